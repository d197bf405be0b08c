/** Pages that name a step and its consequences before it is taken. */
import { countedUpTo } from '../../features/affected/affected.service.ts';
import { validation } from '../../platform/errors/errors.ts';
import { type Phrase, phrase, type Text } from '../../platform/i18n/phrase.ts';
import { type Field, formPage } from './form.ts';
import { countOf } from './list-state.ts';
import type { PageNotice } from './notices.ts';
import type { ConsolePage, ConsoleRequest, Crumb, GoTo } from './page.ts';

/** Subject of the confirmation. */
export interface Subject {
  readonly name: string;
  readonly address: string;
  /** Breadcrumbs of the page. */
  readonly crumbs: readonly Crumb[];
}

interface Consequences {
  readonly facts: readonly Text[];
  /** Above a limit, the name must be typed. */
  readonly affected: number;
}

export interface Confirmation extends Pick<ConfirmedStep, 'path' | 'danger' | 'notice' | 'goTo'> {
  /** Label of the action, e.g. `Delete`. */
  readonly label: string;
  /** Label of the button, if different. */
  readonly submit?: string;
  readonly facts: readonly Text[] | ((visit: ConsoleRequest) => Promise<readonly Text[] | Consequences>);
  /** Last segment of the URL of the step that reverses this one completely. Absent: none does. */
  readonly reverse?: string | ((visit: ConsoleRequest) => Promise<string | undefined>);
  execute(visit: ConsoleRequest, id: string): Promise<unknown>;
}

/** @param subjectOf finds the object of the URL @throws {ApiError} not found */
export const confirmationPages =
  (subjectOf: (visit: ConsoleRequest) => Promise<Subject>) =>
  ({ label, submit = label, facts: given, reverse, execute, ...step }: Confirmation): ConsolePage =>
    confirmedStep({
      ...step,
      access: 'service',
      submit,
      async question(visit) {
        const { name, address, crumbs } = await subjectOf(visit);
        const facts = typeof given === 'function' ? await given(visit) : given;
        const back = typeof reverse === 'function' ? await reverse(visit) : reverse;
        return {
          ...{ title: phrase(`${label} “{name}”?`, { name }), name, crumbs, cancel: address },
          ...('affected' in facts ? facts : { facts, affected: 0 }),
          undo: back === undefined ? undefined : { href: `${address}/${back}` },
          execute: () => execute(visit, visit.params.id ?? ''),
        };
      },
    });

/** A step with a confirmation page. */
interface ConfirmedStep extends Pick<ConsolePage, 'path' | 'access'> {
  readonly submit: string;
  /** Does it delete something irrecoverably? */
  readonly danger?: boolean;
  readonly notice: PageNotice;
  /** Next page; absent: the same as after `cancel`. */
  readonly goTo?: string;
  /** @throws {ApiError} not found, forbidden */
  question(visit: ConsoleRequest): Promise<Question>;
}

interface Question extends Consequences, Pick<GoTo, 'undo'> {
  readonly title: Text;
  readonly crumbs: readonly Crumb[];
  readonly name: string;
  readonly cancel: string;
  execute(): Promise<unknown>;
}

export const confirmedStep = ({ path, access, submit, danger = false, notice, goTo, question }: ConfirmedStep): ConsolePage => ({
  path,
  access,
  verb: 'write',
  async show(visit, typed) {
    const { title, crumbs, facts, name, affected, cancel } = await question(visit);
    return formPage({ title, crumbs, facts, fields: nameFields(name, affected), submit, danger, cancel }, typed);
  },
  async receive(visit, form) {
    const { name, affected, cancel, undo, execute } = await question(visit);
    requireTypedName(form, name, affected);
    await execute();
    return { goTo: goTo ?? cancel, notice, undo };
  },
});

/** A step that affects more objects than this is confirmed by typing the name. */
const MANY = 20;
const TYPED_NAME = 'confirmed-name';

const nameFields = (name: string, affected: number): readonly Field[] =>
  affected > MANY ? [{ name: TYPED_NAME, label: 'Name', required: true, hint: phrase('Enter “{name}” to confirm.', { name }) }] : [];

/** @throws {ApiError} validation */
function requireTypedName(form: URLSearchParams, name: string, affected: number): void {
  if (affected > MANY && form.get(TYPED_NAME)?.trim() !== name.trim())
    throw validation([{ field: TYPED_NAME, message: 'is not the name that is shown. Enter it exactly as shown' }]);
}

/** The number of objects that a confirmation affects: “3 users”, or “more than 10,000 users” if counting stopped there. */
export function affectedCount(counted: number, singular: string, plural?: string): Phrase {
  const { count, isMore } = countedUpTo(counted);
  const words = countOf(count, singular, plural);
  return isMore ? phrase('more than {number}', { number: words }) : words;
}
