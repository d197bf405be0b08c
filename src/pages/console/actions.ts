/** Actions of a page with icons: destructive ones are red and last, one is the primary action. */
import type { IconName } from '../../platform/http/icons.ts';
import type { Action } from './page.ts';

/** By the last segment of the URL. */
const ICONS: Readonly<Record<string, IconName>> = {
  activate: 'activate',
  activity: 'log',
  add: 'member',
  again: 'send',
  allow: 'verify',
  applications: 'application',
  assign: 'member',
  cancel: 'deactivate',
  confirm: 'verify',
  deactivate: 'deactivate',
  delete: 'remove',
  deliveries: 'log',
  disable: 'deactivate',
  download: 'download',
  edit: 'edit',
  enable: 'activate',
  end: 'signOut',
  expire_password: 'session',
  explain: 'explain',
  import: 'upload',
  invitations: 'mail',
  invite: 'mail',
  keys: 'secret',
  'linked-users': 'user',
  mcp: 'server',
  members: 'user',
  move: 'move',
  new: 'add',
  pause: 'pause',
  plan: 'explain',
  preview: 'preview',
  protect: 'verify',
  provisioning: 'reset',
  push: 'send',
  refuse: 'deactivate',
  registration: 'application',
  remove: 'remove',
  rename: 'edit',
  resend: 'send',
  reset: 'reset',
  reset_password: 'password',
  retention: 'session',
  retry: 'reset',
  revoke: 'remove',
  roles: 'role',
  rotate: 'reset',
  secret: 'secret',
  secrets: 'secret',
  'set-password': 'password',
  'setup-link': 'mail',
  simulator: 'playground',
  suspend: 'deactivate',
  take: 'remove',
  test: 'send',
  unlink: 'remove',
  unlock: 'unlock',
  unsuspend: 'activate',
  verify: 'verify',
  'verify-email': 'mail',
};
/** URLs of actions that remove something. */
const DESTRUCTIVE = /\/(delete|remove|revoke|take|unlink|deactivate)$/;

export interface DrawnAction extends Action {
  readonly icon: IconName;
  readonly danger: boolean;
}

const pathOf = ({ href }: Action): string => href.split(/[?#]/, 1)[0] ?? '';

/** Destructive actions last; the others keep their order. */
export const drawnActions = (actions: readonly Action[]): readonly DrawnAction[] =>
  actions
    .map((action): DrawnAction => {
      const last = pathOf(action).split('/').at(-1) ?? '';
      const danger = action.danger ?? DESTRUCTIVE.test(pathOf(action));
      return { ...action, danger, icon: action.icon ?? ICONS[last] ?? (danger ? 'remove' : 'open') };
    })
    .sort((one, other) => Number(one.danger) - Number(other.danger));

/** One action is next to the title: the primary one, otherwise the only one. All others are in the menu. */
export function headActions(actions: readonly Action[], more: readonly Action[]) {
  const drawn = drawnActions(actions);
  const beside = drawn.find(({ main }) => main) ?? (drawn.length === 1 && !drawn[0]?.danger ? drawn[0] : undefined);
  return { beside, menu: drawnActions([...drawn.filter((action) => action !== beside), ...more]) };
}
