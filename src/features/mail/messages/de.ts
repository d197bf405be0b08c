/** Die Mails auf Deutsch. Was die Platzhalter bedeuten, steht in en.ts. */
import type { MailMessages } from './en.ts';

const NOT_YOU =
  'Waren Sie das selbst, ist nichts zu tun. Wenn nicht, öffnen Sie jetzt Ihr Konto, ändern Sie Ihr Passwort und beenden Sie die Sitzungen, die Sie nicht kennen.';

export const mailDe: MailMessages = {
  common: {
    account: 'Konto',
    time: 'Zeit',
    browser: 'Browser',
    address: 'Netzwerkadresse',
    byHand: 'Wenn die Schaltfläche nicht geht, öffnen Sie diese Adresse:',
    sender: 'Diese Nachricht hat {service} automatisch gesendet. Antworten darauf liest niemand.',
    support: 'Hilfe',
  },
  kinds: {
    invitation: {
      subject: 'Ihr Konto bei {service}',
      heading: 'Willkommen bei {service}',
      paragraphs: [
        'Für Sie wurde ein Konto angelegt. Wählen Sie ein Passwort, dann kann es losgehen.',
        'Der Link gilt einmal und sieben Tage lang.',
      ],
      action: 'Passwort wählen',
      closing: 'Wenn Sie nicht wissen, worum es geht, ist nichts zu tun.',
    },
    activation: {
      subject: 'Aktivieren Sie Ihr Konto bei {service}',
      heading: 'Ihr Konto ist aktiv',
      paragraphs: ['Wählen Sie ein Passwort, dann können Sie sich bei {service} anmelden.', 'Der Link gilt einmal und sieben Tage lang.'],
      action: 'Passwort wählen',
      closing: 'Wenn Sie nicht wissen, worum es geht, ist nichts zu tun.',
    },
    'password-reset': {
      subject: 'Wählen Sie ein neues Passwort für {service}',
      heading: 'Neues Passwort wählen',
      paragraphs: ['Mit diesem Link wählen Sie ein neues Passwort.', 'Er gilt einmal und eine Stunde lang.'],
      action: 'Neues Passwort wählen',
      closing: 'Wenn Sie nicht darum gebeten haben, ist nichts zu tun: Ohne den Link kann niemand ein Passwort für Ihr Konto wählen.',
    },
    'password-elsewhere': {
      subject: 'Bei {service} melden Sie sich ohne Passwort an',
      heading: 'Ihr Konto hat hier kein Passwort',
      paragraphs: ['Jemand hat um ein neues Passwort gebeten. Ihr Konto hat keines: Sie melden sich über {provider} an.'],
      closing:
        'Wenn Sie sich dort nicht anmelden können, wenden Sie sich an {provider}. Wenn Sie nicht um ein Passwort gebeten haben, ist nichts zu tun.',
    },
    'email-verification': {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse für {service}',
      heading: 'Ist das Ihre E-Mail-Adresse?',
      paragraphs: ['Bestätigen Sie, dass {address} Ihnen gehört.', 'Der Link gilt einmal und einen Tag lang.'],
      action: 'Adresse bestätigen',
      closing: 'Wenn das Konto nicht Ihres ist, öffnen Sie den Link nicht; sonst ist nichts zu tun.',
    },
    'new-sign-in': {
      subject: 'Neue Anmeldung bei {service}',
      heading: 'Ihr Konto wurde in einem neuen Browser benutzt',
      paragraphs: ['Jemand hat sich bei Ihrem Konto mit einem Browser angemeldet, der dafür noch nicht benutzt wurde.'],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    'password-changed': {
      subject: 'Ihr Passwort für {service} wurde geändert',
      heading: 'Ihr Passwort wurde geändert',
      paragraphs: ['Von jetzt an gilt nur das neue Passwort. Sie wurden überall abgemeldet.'],
      action: 'Das war ich nicht: neues Passwort wählen',
      closing: 'Wenn Sie oder Ihre Administration es geändert haben, ist nichts zu tun.',
    },
    'factor-added': {
      subject: 'Zweiter Nachweis bei {service} hinzugefügt',
      heading: 'Zu Ihrem Konto kam ein zweiter Nachweis hinzu',
      paragraphs: ['Mit einer Authenticator-App oder einem Passkey mehr kann man sich bei Ihrem Konto anmelden.'],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    'factor-removed': {
      subject: 'Zweiter Nachweis bei {service} entfernt',
      heading: 'Von Ihrem Konto wurde ein zweiter Nachweis entfernt',
      paragraphs: ['Eine Authenticator-App oder ein Passkey gilt für die Anmeldung bei Ihrem Konto nicht mehr.'],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    'recovery-codes-replaced': {
      subject: 'Neue Wiederherstellungscodes bei {service}',
      heading: 'Ihre Wiederherstellungscodes wurden ersetzt',
      paragraphs: ['Die Wiederherstellungscodes, die Sie vorher hatten, gelten nicht mehr.'],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    'account-linked': {
      subject: 'Ihr Konto bei {service} wurde verbunden',
      heading: 'Ihr Konto wurde mit {provider} verbunden',
      paragraphs: ['Von jetzt an kann man sich mit Ihrem Konto bei {provider} anmelden.'],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    'account-unlinked': {
      subject: 'Ihr Konto bei {service} wurde getrennt',
      heading: 'Ihr Konto wurde von {provider} getrennt',
      paragraphs: ['Mit Ihrem Konto bei {provider} kann man sich nicht mehr anmelden.'],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    'data-downloaded': {
      subject: 'Ihre Daten bei {service} wurden heruntergeladen',
      heading: 'Die Daten Ihres Kontos wurden heruntergeladen',
      paragraphs: [
        'Jemand hat eine Datei mit allem heruntergeladen, was dieser Dienst über Sie gespeichert hat. Sie enthält kein Passwort.',
      ],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    'email-changed': {
      subject: 'Ihre E-Mail-Adresse bei {service} wurde geändert',
      heading: 'Ihre E-Mail-Adresse wurde geändert',
      paragraphs: ['Ihr Konto hat jetzt die Adresse {address}. Dies ist die letzte Nachricht an die frühere Adresse.'],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    'email-removed': {
      subject: 'Ihre E-Mail-Adresse bei {service} wurde entfernt',
      heading: 'Ihre E-Mail-Adresse wurde entfernt',
      paragraphs: ['Ihr Konto hat keine E-Mail-Adresse mehr. Dies ist die letzte Nachricht an diese.'],
      action: 'Konto öffnen',
      closing: NOT_YOU,
    },
    test: {
      subject: 'Eine Testnachricht von {service}',
      heading: 'E-Mails von {service} erreichen Sie',
      paragraphs: [
        'Diese Nachricht wurde in der Verwaltungskonsole mit Ihrem Konto angefordert. Dass Sie sie lesen, zeigt, dass E-Mails ankommen.',
      ],
      closing: 'Waren Sie es nicht, verwendet jemand anders Ihr Konto: Ändern Sie Ihr Passwort.',
    },
  },
};
