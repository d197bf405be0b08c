/**
 * A field that names several users, groups or applications: what is chosen as check boxes, and a search that adds to them. Without script the
 * search sends the form, which comes back with what was found; with it, it searches while one types (views/public/pick.js).
 */
import type { Field, PickField } from './form.ts';
import type { Typed } from './page.ts';
import type { Candidates } from './picker.ts';

/** The button that searches instead of saving. */
export const LOOK_UP = 'look-up';
/** So many are offered; words narrow them. */
const MOST = 20;

export interface PickManyField extends Omit<PickField, 'kind' | 'picked' | 'found' | 'q'> {
  readonly ids: readonly string[];
}

/** @param typed a form that came back holds what is chosen, and the words of its search */
export async function pickManyField(candidates: Candidates, { ids, ...field }: PickManyField, typed: Typed): Promise<Field> {
  const chosen = typed.values.size > 0 ? typed.values.getAll(field.name).filter((one) => one.trim() !== '') : ids;
  const picked: { value: string; label: string }[] = [];
  for (const id of new Set(chosen)) {
    const found = await candidates.byId(id);
    picked.push({ value: found?.id ?? id, label: found?.label ?? id });
  }
  const q = typed.values.get(LOOK_UP) === field.name ? (typed.values.get(`${field.name}-q`) ?? '').trim() : '';
  const found = q === '' ? [] : await candidates.find(q, MOST);
  return {
    ...field,
    kind: 'pick',
    picked,
    found: found.filter(({ id }) => !picked.some(({ value }) => value === id)).map(({ id, label }) => ({ value: id, label })),
    q,
  };
}
