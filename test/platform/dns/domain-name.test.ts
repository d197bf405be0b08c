import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asciiDomain, domainOfAddress, organizationDomain, shownDomain } from '../../../src/platform/dns/domain-name.ts';

const problemOf = (typed: string): string | undefined => organizationDomain.safeParse(typed).error?.issues[0]?.message;

describe('names of domains', () => {
  it('writes a domain as DNS has it, whatever way it was typed', () => {
    for (const [typed, ascii] of [
      ['Example.COM', 'example.com'],
      [' example.com. ', 'example.com'],
      ['bücher.example', 'xn--bcher-kva.example'],
      ['BÜCHER.example', 'xn--bcher-kva.example'],
      ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ] as const)
      assert.equal(asciiDomain(typed), ascii);
    assert.equal(shownDomain('xn--bcher-kva.example'), 'bücher.example');
  });

  it('takes what is no domain for none', () => {
    const long = `${'a'.repeat(60)}.`.repeat(4);
    for (const typed of [
      '',
      'localhost',
      '192.0.2.1',
      '1.2',
      '[::1]',
      'a b.example',
      'a@b.example',
      '-a.example',
      'a_b.example',
      'a..example',
      `${long}example`,
    ])
      assert.equal(asciiDomain(typed), undefined, typed);
  });

  it('refuses public suffixes, in either spelling, and accepts what is registered below them', () => {
    for (const suffix of ['co.uk', 'github.io', '公司.cn', 'xn--55qx5d.cn'])
      assert.match(problemOf(suffix) ?? '', /^is a public suffix/, suffix);
    for (const owned of ['example.co.uk', 'acme.github.io', 'mail.example.com']) assert.equal(organizationDomain.parse(owned), owned);
    assert.equal(problemOf('no domain'), 'must be a domain, such as example.com');
  });

  it('finds the domain of an address behind the last @', () => {
    assert.equal(domainOfAddress('"a@b"@Example.com'), 'example.com');
    for (const none of ['ada', '@example.com', 'ada@', 'ada@localhost']) assert.equal(domainOfAddress(none), undefined, none);
  });
});
