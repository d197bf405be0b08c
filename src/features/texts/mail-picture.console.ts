/** Preview of an e-mail in light and dark, drawn in HTML, and its plain text. */
import type { Drawn } from '../../pages/console/page.ts';
import type { Mail } from '../mail/templates.ts';
import { previewStylesheet } from '../settings/brand-stylesheet.service.ts';
import type { Branding } from '../settings/settings.service.ts';

/** @param unsaved what was typed and is not saved yet, and where it is posted to */
export function mailPicture(
  page: Omit<Drawn, 'view' | 'locals' | 'images'>,
  { subject, text, picture }: Mail,
  branding: Branding,
  unsaved?: { readonly values: Readonly<Record<string, string>>; readonly action: string },
): Drawn {
  return {
    ...page,
    view: 'mail-preview',
    images: branding.logoUrl === null ? [] : [new URL(branding.logoUrl).origin],
    locals: {
      stylesheets: ['frame.css', 'admin.css', 'branding.css'],
      previewColours: previewStylesheet({ ...branding, backgroundUrl: null }),
      schemes: [
        ['light', 'Light'],
        ['dark', 'Dark'],
      ],
      subject,
      plain: text,
      mail: picture,
      unsaved: unsaved && { action: unsaved.action, values: Object.entries(unsaved.values) },
    },
  };
}
