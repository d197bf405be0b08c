/** Pages that ask whether one thing is to be done with something, say what follows, and do it. */
import { phrase, type Text } from '../../platform/i18n/phrase.ts';
import { formPage } from './form.ts';
import type { PageNotice } from './notices.ts';
import type { ConsolePage, ConsoleRequest, Crumb } from './page.ts';

/** Subject of the confirmation. */
export interface Subject {
  readonly name: string;
  readonly address: string;
  /** The way to the page. */
  readonly crumbs: readonly Crumb[];
}

export interface Confirmation {
  /** Below the console's address, with `:id` for the subject's. */
  readonly path: string;
  /** Label of the action, e.g. `Delete`. */
  readonly label: string;
  readonly facts: readonly Text[] | ((visit: ConsoleRequest) => Promise<readonly Text[]>);
  /** Takes something away that does not come back. */
  readonly danger?: boolean;
  readonly notice: PageNotice;
  /** Next page; absent: the subject. */
  readonly goTo?: string;
  carryOut(visit: ConsoleRequest, id: string): Promise<unknown>;
}

/** @param subjectOf of the address @throws {ApiError} not found */
export const confirmationPages =
  (subjectOf: (visit: ConsoleRequest) => Promise<Subject>) =>
  ({ path, label, facts, danger = false, notice, goTo, carryOut }: Confirmation): ConsolePage => ({
    path,
    access: 'service',
    verb: 'write',
    async show(visit, typed) {
      const { name, address, crumbs } = await subjectOf(visit);
      const page = {
        title: phrase(`${label} “{name}”?`, { name }),
        crumbs,
        facts: typeof facts === 'function' ? await facts(visit) : facts,
      };
      return formPage({ ...page, submit: label, danger, cancel: address }, typed);
    },
    async receive(visit) {
      const { address } = await subjectOf(visit);
      await carryOut(visit, visit.params.id ?? '');
      return { goTo: goTo ?? address, notice };
    },
  });
