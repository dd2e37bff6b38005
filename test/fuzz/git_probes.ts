/** Requests of git clients that repeat a packet line, and packet lines that repeat a fragment. */
import { gzipSync } from 'node:zlib';
import { rootToken } from '../support/service.ts';
import { type Probe, repeated } from './fragments.ts';

const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

const [flush, delimiter] = ['0000', '0001'];
const none = '0'.repeat(40);

/** An id that no object has. */
const someId = (at: number): string => (at + 1).toString(16).padStart(40, 'a');

type Shape = {
  name: string;
  start: string;
  /** The packet that is repeated, by its number. */
  packet: (at: number) => string;
  end: string;
};

/** Requests of protocol version 2. @param oid of an object that the client may fetch */
const requests = (oid: string): Shape[] => {
  const fetch = line('command=fetch\n');
  const fetchAll = `${delimiter}${line(`want ${oid}\n`)}${line('done\n')}${flush}`;
  const list = line('command=ls-refs\n');
  const done = `${line('done\n')}${flush}`;
  return [
    { name: 'agents', start: fetch, packet: () => line('agent=x\n'), end: fetchAll },
    { name: 'server options', start: fetch, packet: (at) => line(`server-option=${at}\n`), end: fetchAll },
    { name: 'wants of one object', start: fetch + delimiter, packet: () => line(`want ${oid}\n`), end: done },
    {
      name: 'wants of missing objects',
      start: fetch + delimiter,
      packet: (at) => line(`want ${someId(at)}\n`),
      end: done,
    },
    {
      name: 'haves',
      start: `${fetch}${delimiter}${line(`want ${oid}\n`)}`,
      packet: (at) => line(`have ${someId(at)}\n`),
      end: done,
    },
    {
      name: 'shallow commits',
      start: `${fetch}${delimiter}${line(`want ${oid}\n`)}`,
      packet: (at) => line(`shallow ${someId(at)}\n`),
      end: done,
    },
    {
      name: 'prefixes of refs',
      start: list + delimiter,
      packet: (at) => line(`ref-prefix ${at}`),
      end: flush,
    },
    { name: 'empty lines', start: fetch + delimiter, packet: () => '0004', end: done },
    { name: 'delimiters', start: fetch, packet: () => delimiter, end: fetchAll },
    { name: 'commands', start: '', packet: () => list + flush, end: '' },
    { name: 'a request without an end', start: fetch + delimiter, packet: () => line('x'), end: '' },
  ];
};

/** Requests of the versions before. */
const oldRequests = (oid: string): Shape[] => [
  {
    name: 'old wants',
    start: '',
    packet: () => line(`want ${oid} no-progress\n`),
    end: `${flush}0009done\n`,
  },
  {
    name: 'old haves',
    start: `${line(`want ${oid} no-progress\n`)}${flush}`,
    packet: (at) => line(`have ${someId(at)}\n`),
    end: '0009done\n',
  },
];

const deletion = (ref: string, capabilities = ''): string =>
  line(`${someId(0)} ${none} refs/heads/${ref}\0${capabilities}`);

const pushes: Shape[] = [
  {
    name: 'deletions',
    start: deletion('x', 'report-status delete-refs'),
    packet: (at) => line(`${someId(0)} ${none} refs/heads/x${at}`),
    end: flush,
  },
  {
    name: 'creations without objects',
    start: line(`${none} ${someId(0)} refs/heads/x\0report-status`),
    packet: (at) => line(`${none} ${someId(at)} refs/heads/x${at}`),
    end: flush,
  },
  {
    name: 'push options',
    start: deletion('x', 'report-status push-options') + flush,
    packet: (at) => line(`ci.variable=A${at}=b`),
    end: flush,
  },
  {
    name: 'short push options',
    start: deletion('x', 'report-status push-options') + flush,
    packet: () => line('a'),
    end: flush,
  },
  { name: 'shallow commits', start: '', packet: (at) => line(`shallow ${someId(at)}`), end: flush },
  { name: 'empty lines', start: deletion('x'), packet: () => '0004', end: flush },
];

const as = { authorization: `Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}` };

const longest = 128 * 1024;

type Door = { service: 'git-upload-pack' | 'git-receive-pack'; protocol: 0 | 2 };

const sent = ({ service, protocol }: Door, body: string | Buffer, more: Record<string, string> = {}) => ({
  method: 'POST',
  url: `/root/first.git/${service}`,
  type: `application/x-${service}-request`,
  headers: { ...as, ...more, ...(protocol === 2 && { 'git-protocol': 'version=2' }) },
  body,
});

const shapeProbe =
  (door: Door) =>
  ({ name, start, packet, end }: Shape): Probe => ({
    name: `${door.service} version ${door.protocol}: ${name}`,
    longest,
    of: (length) => {
      const packets: string[] = [start];
      for (let bytes = 0, at = 0; bytes < length; at += 1) {
        const one = packet(at);
        packets.push(one);
        bytes += one.length;
      }
      return sent(door, packets.join('') + end);
    },
  });

/** The longest packet line, of fragments. */
const longestLine = 65_000;
const inLines = ['a', 'a/', '/', '.', ' ', '\0', '*', 'refs/heads/', '@{', '='];

const lineProbes: Probe[] = inLines.flatMap((fragment) => [
  {
    name: `git-receive-pack: ref of ${JSON.stringify(fragment)}`,
    longest: longestLine,
    of: (length) =>
      sent(
        { service: 'git-receive-pack', protocol: 0 },
        deletion(repeated(fragment, Math.min(length, longestLine))) + flush,
      ),
  },
  {
    name: `git-receive-pack: capabilities of ${JSON.stringify(fragment)}`,
    longest: longestLine,
    of: (length) =>
      sent(
        { service: 'git-receive-pack', protocol: 0 },
        deletion('x', repeated(fragment, Math.min(length, longestLine))) + flush,
      ),
  },
  {
    name: `git-upload-pack: prefix of ${JSON.stringify(fragment)}`,
    longest: longestLine,
    of: (length) =>
      sent(
        { service: 'git-upload-pack', protocol: 2 },
        `${line('command=ls-refs\n')}${delimiter}${line(`ref-prefix ${repeated(fragment, Math.min(length, longestLine))}`)}${flush}`,
      ),
  },
]);

/** Bodies that become a thousand times as long when they are decompressed. */
const packedProbes: Probe[] = (['git-upload-pack', 'git-receive-pack'] as const).flatMap((service) =>
  ['0004', '0', '\0'].map((fragment) => ({
    name: `${service}: compressed ${JSON.stringify(fragment)}`,
    longest: 8 * longest,
    of: (length) =>
      sent({ service, protocol: 0 }, gzipSync(repeated(fragment, length)), { 'content-encoding': 'gzip' }),
  })),
);

/** @param oid of a commit of `root/first` */
export const gitProbes = (oid: string): Probe[] => [
  ...requests(oid).map(shapeProbe({ service: 'git-upload-pack', protocol: 2 })),
  ...oldRequests(oid).map(shapeProbe({ service: 'git-upload-pack', protocol: 0 })),
  ...pushes.map(shapeProbe({ service: 'git-receive-pack', protocol: 0 })),
  ...lineProbes,
  ...packedProbes,
];
