/**
 * `/account/profile`: the user's own attributes, their e-mail address, and the language of the pages. Attributes of an organization are
 * changed by its administrators.
 */

import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { draw, type FormProblem, ownPage, redirectAfterChange, type Show, showAgain } from '../../pages/account/page.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { LANGUAGES } from '../../platform/i18n/messages.ts';
import { keepLanguage, languageOfProfile, pageLanguage } from '../../platform/i18n/page-language.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import { change, ownChange } from '../sign-in/fresh-sign-in.hosted.ts';
import type { AttributeValue } from '../user-schema/attributes.resource.ts';
import { attributeFieldModels, attributesSent, shownAttributes } from '../user-schema/user-attributes.hosted.ts';
import { requestVerification, type VerificationRequest } from './email-verification.service.ts';
import {
  changeOwnLanguage,
  changeOwnProfile,
  OWN_ATTRIBUTES,
  OWN_AUTOCOMPLETE,
  type OwnProblems,
  type OwnProfile,
  ownAddedAttributes,
  ownAttributeProblem,
  TIME_ZONES,
} from './own-profile.service.ts';

/** Fields that most users fill in. */
const GROUPS = [
  { legend: 'account.profile.name', attributes: ['firstName', 'lastName', 'displayName'] },
  { legend: 'account.profile.reach', attributes: ['mobilePhone'] },
  { legend: 'account.profile.time', attributes: ['zoneinfo'] },
] as const;
/** Collapsed. */
const MORE_GROUPS = [
  { legend: 'account.profile.name', attributes: ['middleName', 'nickName'] },
  { legend: 'account.profile.reach', attributes: ['primaryPhone', 'profileUrl'] },
  { legend: 'account.profile.address', attributes: ['streetAddress', 'zipCode', 'city', 'state', 'countryCode'] },
] as const;
const INPUT_TYPES: Readonly<Record<string, string>> = { mobilePhone: 'tel', primaryPhone: 'tel', profileUrl: 'url' };

interface Typed {
  readonly profile?: OwnProfile;
  readonly added?: Readonly<Record<string, AttributeValue | null>>;
  readonly problems?: OwnProblems;
  readonly email?: string;
  readonly emailProblem?: Exclude<VerificationRequest, 'sent'>;
}

const showing =
  ({ profile, added = {}, problems: found, email, emailProblem }: Typed): Show =>
  async (deps, ctx, visit) => {
    const language = pageLanguage(ctx);
    const { text } = language;
    const { user } = visit;
    const { changeable, readable } = await ownAddedAttributes(deps.services);
    const wrongProblems = (found?.wrong ?? []).map(
      (name): FormProblem => ({
        field: `profile-${name}`,
        message: text(ownAttributeProblem(name), { field: text(`account.profile.${name}`) }),
      }),
    );
    const addedProblems = new Map(
      changeable.flatMap(({ name, title }) => {
        const problem = found?.added.get(name);
        return problem === undefined ? [] : [[name, text(`attributes.${problem}`, { field: title })] as const];
      }),
    );
    const ofAdded = [...addedProblems].map(([name, message]): FormProblem => ({ field: `attribute-${name}`, message }));
    const emailProblems = emailProblem === undefined ? [] : [{ field: 'email', message: text(`account.email.${emailProblem}`) }];
    const problems = [...wrongProblems, ...ofAdded, ...emailProblems];
    const groupsOf = (groups: typeof GROUPS | typeof MORE_GROUPS) =>
      groups.map(({ legend, attributes }) => ({
        legend: text(legend),
        fields: attributes.map((name) => ({
          name,
          label: text(`account.profile.${name}`),
          type: INPUT_TYPES[name] ?? 'text',
          value: profile?.[name] ?? user.profile[name] ?? '',
          autocomplete: OWN_AUTOCOMPLETE[name],
          problem: problems.find(({ field }) => field === `profile-${name}`)?.message,
        })),
      }));
    const more = groupsOf(MORE_GROUPS);
    await draw(
      deps,
      ctx,
      visit,
      'account/profile',
      { page: 'profile', problems },
      {
        login: user.login,
        groups: groupsOf(GROUPS),
        more,
        isUnfolded: more.some(({ fields }) => fields.some(({ problem }) => problem !== undefined)),
        added: attributeFieldModels(changeable, { ...user.profile, ...added }, addedProblems, text),
        shown: shownAttributes(readable, user.profile, language),
        email: { present: user.email, verified: user.emailVerified, typed: email ?? '', problem: emailProblems[0]?.message },
        zones: TIME_ZONES,
        mailPossible: await isMailPossible(deps.services, visitor(ctx, deps.config)),
        profileLanguages: LANGUAGES.map(({ lang, name }) => ({ lang, name, chosen: languageOfProfile(user.profile)?.lang === lang })),
      },
    );
  };

/** GET /account/profile */
export const profilePage = ownPage('profile', showing({}));

/** POST /account/profile */
export const receiveProfile = ownChange<AccountDeps>(async (deps, ctx, session, form) => {
  const profile = Object.fromEntries(OWN_ATTRIBUTES.flatMap((name) => (form.has(name) ? [[name, form.get(name) ?? '']] : [])));
  const { changeable } = await ownAddedAttributes(deps.services);
  const added = attributesSent(changeable, form);
  const problems = await changeOwnProfile(deps.services, session.accountId, profile, added, visitor(ctx, deps.config));
  if (problems.wrong.length + problems.added.size > 0) {
    return showAgain(deps, ctx, 'profile', session, showing({ profile, added, problems }));
  }
  redirectAfterChange(ctx, 'profile', 'profile');
}, 'profile');

/** POST /account/email: a new address, or the current unverified one. It changes when its link is used. */
export const receiveEmail = change<AccountDeps>(async (deps, ctx, session, form) => {
  const email = form.get('email')?.trim() ?? '';
  const outcome = await requestVerification(deps.services, session.accountId, email, visitor(ctx, deps.config));
  if (outcome !== 'sent') return showAgain(deps, ctx, 'profile', session, showing({ email, emailProblem: outcome }));
  redirectAfterChange(ctx, 'profile', 'email-sent');
}, 'profile');

/** POST /account/language */
export const receiveLanguage = ownChange<AccountDeps>(async (deps, ctx, session, form) => {
  const chosen = LANGUAGES.find(({ lang }) => lang === form.get('language'));
  await changeOwnLanguage(deps.services, session.accountId, chosen?.lang, visitor(ctx, deps.config));
  keepLanguage(ctx, chosen);
  redirectAfterChange(ctx, 'profile', 'language');
}, 'profile');
