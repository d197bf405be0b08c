/** Pages that ask whether one thing is to be done with something, say what follows, and do it. */
import { countedUpTo } from '../../features/affected/affected.service.ts';
import { validation } from '../../platform/errors/errors.ts';
import { type Phrase, phrase, type Text } from '../../platform/i18n/phrase.ts';
import { type Field, formPage } from './form.ts';
import { countOf } from './list-state.ts';
import type { PageNotice } from './notices.ts';
import type { ConsolePage, ConsoleRequest, Crumb } from './page.ts';

/** Subject of the confirmation. */
export interface Subject {
  readonly name: string;
  readonly address: string;
  /** The way to the page. */
  readonly crumbs: readonly Crumb[];
}

interface Consequences {
  readonly facts: readonly Text[];
  /** How many are affected: with many, the name is typed. */
  readonly affected: number;
}

export interface Confirmation {
  /** Below the console's address, with `:id` for the subject's. */
  readonly path: string;
  /** Label of the action, e.g. `Delete`. */
  readonly label: string;
  readonly facts: readonly Text[] | ((visit: ConsoleRequest) => Promise<readonly Text[] | Consequences>);
  /** Takes something away that does not come back. */
  readonly danger?: boolean;
  readonly notice: PageNotice;
  /** Next page; absent: the subject. */
  readonly goTo?: string;
  /** Last word of the address of the step that reverses it completely. Absent: none does. */
  readonly reverse?: string | ((visit: ConsoleRequest) => Promise<string | undefined>);
  carryOut(visit: ConsoleRequest, id: string): Promise<unknown>;
}

/** @param subjectOf of the address @throws {ApiError} not found */
export const confirmationPages =
  (subjectOf: (visit: ConsoleRequest) => Promise<Subject>) =>
  ({ path, label, facts: told, danger = false, notice, goTo, reverse, carryOut }: Confirmation): ConsolePage => ({
    path,
    access: 'service',
    verb: 'write',
    async show(visit, typed) {
      const { name, address, crumbs } = await subjectOf(visit);
      const { facts, affected } = await consequencesOf(visit, told);
      const page = {
        title: phrase(`${label} “{name}”?`, { name }),
        crumbs,
        facts,
        fields: nameFields(name, affected),
      };
      return formPage({ ...page, submit: label, danger, cancel: address }, typed);
    },
    async receive(visit, form) {
      const { name, address } = await subjectOf(visit);
      requireTypedName(form, name, (await consequencesOf(visit, told)).affected);
      const back = typeof reverse === 'function' ? await reverse(visit) : reverse;
      await carryOut(visit, visit.params.id ?? '');
      return { goTo: goTo ?? address, notice, undo: back === undefined ? undefined : { href: `${address}/${back}` } };
    },
  });

async function consequencesOf(visit: ConsoleRequest, told: Confirmation['facts']): Promise<Consequences> {
  const facts = typeof told === 'function' ? await told(visit) : told;
  return 'affected' in facts ? facts : { facts, affected: 0 };
}

/** A deletion that affects more than these is confirmed by typing the name. */
const MANY = 20;
const TYPED_NAME = 'confirmed-name';

/** Where the name is typed; none for a deletion that affects few. */
export const nameFields = (name: string, affected: number): readonly Field[] =>
  affected > MANY ? [{ name: TYPED_NAME, label: 'Name', required: true, hint: phrase('Enter “{name}” to confirm.', { name }) }] : [];

/** @throws {ApiError} validation: the deletion affects many, and the name was not typed */
export function requireTypedName(form: URLSearchParams, name: string, affected: number): void {
  if (affected > MANY && form.get(TYPED_NAME)?.trim() !== name.trim())
    throw validation([{ field: TYPED_NAME, message: 'is not the name that is shown. Enter it exactly as shown' }]);
}

/** The number of something that a confirmation affects: “3 users”, or “more than 10,000 users” where no more were counted. */
export function affectedCount(counted: number, singular: string, plural?: string): Phrase {
  const { count, isMore } = countedUpTo(counted);
  const words = countOf(count, singular, plural);
  return isMore ? phrase('more than {number}', { number: words }) : words;
}
