/** The playground in the languages of the other pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { ADA, press } from './story.ts';

for (const [language, lang, welcome, verified] of [
  ['de', 'de', 'Hallo,', 'Geprüft:'],
  ['es', 'es', 'Hola,', 'Verificado:'],
  ['zh', 'zh-Hans', '您好，', '已验证：'],
] as const) {
  test(`a sign-in and what can be done with its tokens, in ${lang}: nothing is left in English`, async (t) => {
    const missing = new Set<string>();
    const service = await startService(t, {
      env: { LOG_LEVEL: 'debug' },
      onLog(line) {
        const { msg, text } = JSON.parse(line);
        if (msg === 'a text of the playground has no translation') missing.add(text);
      },
    });
    const user = await service.createUser(ADA);
    const agent = new UserAgent(service.baseUrl);
    const start = await agent.visit(`/playground?language=${language}&response_type=code&scope=openid+offline_access`);
    assert.match(start.text, new RegExp(`<html lang="${lang}"`));
    assert.match(start.text, /hreflang="en"/, 'other languages are offered');
    const result = await agent.signIn(await agent.submit(start, 'playground-start'), user);
    assert.match(result.text, new RegExp(`${welcome}|${verified}`));
    assert.doesNotMatch(result.text, /hreflang="en"/, 'what a form answered cannot be asked for again');
    for (const action of ['introspect access-token', 'revoke refresh-token', 'refresh refresh-token']) {
      const { text } = await press(agent, result, action);
      assert.match(text, new RegExp(`<html lang="${lang}"`), action);
    }
    assert.match((await agent.visit('/playground/callback?state=unknown&code=x')).text, new RegExp(`<html lang="${lang}"`));
    assert.deepEqual([...missing], []);
  });
}
