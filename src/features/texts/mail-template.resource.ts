/** E-mail templates: the e-mails, their editable parts, and the variables of each. */
import { z } from 'zod';
import { isMessageKey, MESSAGE_KEYS, type MessageKey, originalText } from '../../platform/i18n/messages.ts';
import { shownText } from '../../platform/validation/text.ts';
import { variableProblem, variablesIn } from './text-keys.resource.ts';

/** The parts of an e-mail, with the key in views/locales and the most characters of each. */
export const TEMPLATE_PARTS = {
  subject: { key: 'subject', most: 200, isLong: false },
  heading: { key: 'heading', most: 200, isLong: false },
  introduction: { key: 'introduction', most: 4000, isLong: true },
  button: { key: 'action', most: 80, isLong: false },
  closing: { key: 'closing', most: 2000, isLong: true },
} as const;

export type TemplatePart = keyof typeof TEMPLATE_PARTS;
const PARTS = Object.keys(TEMPLATE_PARTS) as readonly TemplatePart[];

/** Texts of an e-mail; without a button text it has no link. */
export type TemplateTexts = Readonly<Partial<Record<TemplatePart, string>>>;

/** All kinds of e-mails that have texts, in the order of views/locales. */
export const TEMPLATE_KINDS: readonly string[] = MESSAGE_KEYS.flatMap((key) => /^mail\.([\w-]+)\.subject$/.exec(key)?.[1] ?? []);

/** @returns the key of a part; undefined: this kind has no such part */
export function keyOfPart(kind: string, part: TemplatePart): MessageKey | undefined {
  const key = `mail.${kind}.${TEMPLATE_PARTS[part].key}`;
  return isMessageKey(key) ? key : undefined;
}

export const partsOf = (kind: string): readonly TemplatePart[] => PARTS.filter((part) => keyOfPart(kind, part) !== undefined);

/** Variables of every e-mail. Not the display name: users choose it, and could write into other mailboxes. */
const COMMON = ['service', 'login'] as const;

/** @returns the variables of a kind, those that its introduction must have, and whether it has a link */
export function templateVariables(kind: string) {
  const inOriginal = partsOf(kind).flatMap((part) => variablesIn(originalText('en', keyOfPart(kind, part) as MessageKey)));
  const introduction = keyOfPart(kind, 'introduction');
  const required = introduction === undefined ? [] : variablesIn(originalText('en', introduction));
  const common: readonly string[] = COMMON;
  return {
    allowed: [...new Set([...COMMON, ...inOriginal])],
    required: required.filter((name) => !common.includes(name)),
    hasLink: keyOfPart(kind, 'button') !== undefined,
  };
}

/** Variables of one part. A link appears only where it can be opened, never in a subject, which logs and previews show. */
export function variablesOfPart(
  kind: string,
  part: TemplatePart,
): { readonly allowed: readonly string[]; readonly required: readonly string[] } {
  const { allowed, required, hasLink } = templateVariables(kind);
  return {
    allowed: hasLink && TEMPLATE_PARTS[part].isLong ? [...allowed, 'link'] : allowed,
    required: part === 'introduction' ? required : [],
  };
}

/** Refused characters: control characters except line ends, and those that change the direction of the text around them. */
const UNFIT = /[\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u;

const longText = (most: number) =>
  z
    .string()
    .transform((value) => value.replace(/\r\n?/g, '\n').trim())
    .pipe(
      z
        .string()
        .min(1)
        .max(most)
        .refine((value) => !UNFIT.test(value), 'must not contain control characters'),
    );

/** Checks the parts of one kind. */
export function templateBody(kind: string): z.ZodType<TemplateTexts> {
  const shape = partsOf(kind).map((part) => {
    const { most, isLong } = TEMPLATE_PARTS[part];
    const { allowed, required } = variablesOfPart(kind, part);
    const text = isLong ? longText(most) : shownText({ least: 1, most });
    const checked = text.superRefine((value, ctx) => {
      const problem = variableProblem(value, allowed, required);
      if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem });
    });
    return [part, checked.optional()] as const;
  });
  return z.strictObject(Object.fromEntries(shape));
}

/** The same for any kind, for the OpenAPI document. */
export const anyTemplateBody = z.strictObject({
  subject: z.string().max(TEMPLATE_PARTS.subject.most).exactOptional().meta({ description: 'One line; absent: the original' }),
  heading: z.string().max(TEMPLATE_PARTS.heading.most).exactOptional().meta({ description: 'One line' }),
  introduction: z
    .string()
    .max(TEMPLATE_PARTS.introduction.most)
    .exactOptional()
    .meta({ description: 'Plain text above the button; an empty line begins a paragraph' }),
  button: z
    .string()
    .max(TEMPLATE_PARTS.button.most)
    .exactOptional()
    .meta({ description: 'Label of the button; only of e-mails with a link' }),
  closing: z.string().max(TEMPLATE_PARTS.closing.most).exactOptional().meta({ description: 'Plain text below the button' }),
});
