/** A DNS server of the tests on loopback: it answers questions for TXT records over UDP (RFC 1035), and counts them. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import dnsPacket from 'dns-packet';

export interface TestDns {
  /** For DNS_SERVERS. */
  readonly server: string;
  /** Name → TXT records, each of one or more strings. */
  readonly records: Map<string, readonly (string | readonly string[])[]>;
  /** Names that were asked for. */
  readonly asked: string[];
  /** What is answered where it is not NOERROR or NXDOMAIN. */
  failure: 'SERVFAIL' | 'REFUSED' | undefined;
  close(): void;
}

/** RFC 1035 section 4.1.1, RCODE. */
const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;

/** It does not keep the process alive. */
export async function startDns(): Promise<TestDns> {
  const socket = createSocket('udp4').unref();
  const dns: Omit<TestDns, 'server'> = { records: new Map(), asked: [], failure: undefined, close: () => socket.close() };
  const whole: TestDns = Object.assign(dns, { server: '' });
  socket.on('message', (message, from) => {
    const { id, questions = [] } = dnsPacket.decode(message);
    const [question] = questions;
    const name = question?.name.toLowerCase() ?? '';
    whole.asked.push(name);
    const records = whole.records.get(name);
    const code = RCODES[whole.failure ?? (records === undefined ? 'NXDOMAIN' : 'NOERROR')];
    const answers = (whole.failure === undefined && question?.type === 'TXT' ? (records ?? []) : []).map((strings) => ({
      ...{ type: 'TXT' as const, name: question?.name ?? '', ttl: 0 },
      data: typeof strings === 'string' ? [strings] : [...strings],
    }));
    socket.send(
      dnsPacket.encode({ type: 'response', id: id ?? 0, flags: dnsPacket.RECURSION_DESIRED | code, questions, answers }),
      from.port,
      from.address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return Object.assign(whole, { server: `127.0.0.1:${socket.address().port}` });
}
