/** A device or command line in JavaScript: its user confirms a code on another device (RFC 8628), which can scan it as a QR code (section 3.3.1). */
import { hasKey, opening } from './openid-client.ts';
import { type Facts, type Snippet, stringLiteral, usesSecret } from './snippet.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const program = (facts: Facts): string => `${opening(facts, [`import QRCode from 'qrcode';`])}
const request = await oidc.initiateDeviceAuthorization(provider, { scope: ${stringLiteral(facts.scope)} });

// The QR code contains the address with the code. The page still asks the user to confirm it
console.log(await QRCode.toString(request.verification_uri_complete, { type: 'terminal', small: true }));
console.log(\`Scan the QR code, or open \${request.verification_uri} and type \${request.user_code}\`);

// Polls until the user has allowed or refused the request, or the code has expired
const tokens = await oidc.pollDeviceAuthorizationGrant(provider, request);
console.log(\`Signed in as \${tokens.claims()?.sub}\`);
`;

export const deviceSnippet: Snippet = {
  id: 'device',
  label: 'openid-client on a device (Node.js)',
  about: 'For devices and command lines. It shows a QR code and waits for the user. The whole file runs as it is.',
  firstFor: ['native', 'service'],
  matches: (facts) => facts.kind !== 'browser' && facts.grants.includes(GRANT),
  files: (facts) => [{ name: 'device.mjs', text: program(facts) }],
  run: (facts) =>
    [
      `npm install openid-client@6 qrcode@1${hasKey(facts) ? ' jose@6' : ''}`,
      `${usesSecret(facts) ? 'CLIENT_SECRET=… ' : ''}node device.mjs`,
    ].join('\n'),
};
