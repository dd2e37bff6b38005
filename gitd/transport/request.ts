/** What a client of protocol v2 asks for: one command with its capabilities and arguments. */
import { hash } from 'node:crypto';
import { GitError } from '../failure.ts';
import type { Oid } from '../protocol.ts';
import { largestRequest } from './bounded.ts';
import { lineOf, packetAt } from './pktline.ts';

const oidPattern = /^[0-9a-f]{40}$/;

export type FetchRequest = {
  wants: Oid[];
  /** The client says that it has something. */
  hasHaves: boolean;
  /** It wants the pack now. */
  done: boolean;
  /** What the answer depends on beside the wanted objects: what git finds in the refs of that moment. */
  asksRefs: boolean;
};

export type Request = {
  /** As it came, with its flush packet. */
  bytes: Buffer;
  /** null: nothing but a flush packet, as a client sends that looks whether we are there. */
  command: string | null;
  /** The lines behind the capabilities. */
  args: string[];
  /** The same for all clients that ask for the same. */
  key: string;
};

/** Where the first request ends that lies in the bytes, or how far one has looked. */
const endOfRequest = (bytes: Buffer, from: number): { at: number; whole: boolean } => {
  for (let at = from; ;) {
    const found = packetAt(bytes, at);
    if (found === null) return { at, whole: false };
    at = found.next;
    if (found.packet.kind === 'flush') return { at, whole: true };
  }
};

/** Who asks, and not what for. */
const isAboutClient = (line: string): boolean => line.startsWith('agent=') || line.startsWith('session-id=');

/** @throws GitError `invalid` */
export const parseRequest = (bytes: Buffer): Request => {
  const [capabilities, args]: [string[], string[]] = [[], []];
  let list = capabilities;
  for (let at = 0; at < bytes.length;) {
    const found = packetAt(bytes, at);
    if (found === null) throw new GitError('invalid', 'a packet line is cut off');
    if (found.packet.kind === 'delim') list = args;
    else if (found.packet.kind === 'data') list.push(lineOf(found.packet.data));
    at = found.next;
  }
  const commands = capabilities.filter((line) => line.startsWith('command='));
  if (commands.length > 1) throw new GitError('invalid', 'a request has two commands');
  const asked = [...capabilities.filter((line) => !isAboutClient(line)), '', ...args];
  return {
    bytes,
    command: commands[0]?.slice('command='.length) ?? null,
    args,
    key: hash('sha256', JSON.stringify(asked)),
  };
};

/** @throws GitError `invalid` for a want that is no id */
export const fetchOf = ({ args }: Request): FetchRequest => {
  const wants = new Set<Oid>();
  for (const line of args) {
    if (!line.startsWith('want ')) continue;
    const oid = line.slice('want '.length).toLowerCase();
    if (!oidPattern.test(oid)) throw new GitError('invalid', 'a want is no id');
    wants.add(oid);
  }
  return {
    wants: [...wants],
    hasHaves: args.some((line) => line.startsWith('have ')),
    done: args.includes('done'),
    asksRefs: args.some((line) => line.startsWith('deepen-not ') || line.startsWith('want-ref ')),
  };
};

/** Bytes that come in pieces of any size, in a buffer that doubles. */
const makeHeap = () => {
  let buffer = Buffer.allocUnsafe(4096);
  let length = 0;
  return {
    bytes: (): Buffer => buffer.subarray(0, length),
    add: (chunk: Buffer): void => {
      if (length + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, length + chunk.length));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      chunk.copy(buffer, length);
      length += chunk.length;
    },
    /** The first so many, which are no longer there afterwards. */
    take: (wanted: number): Buffer => {
      const taken = Buffer.from(buffer.subarray(0, wanted));
      buffer.copyWithin(0, wanted, length);
      length -= wanted;
      return taken;
    },
  };
};

/**
 * The requests that a client sends, one by one, each held whole.
 * @throws GitError `too_large` for one that is too long, `invalid` for what is none
 */
export async function* requestsOf(input: AsyncIterable<Buffer>): AsyncGenerator<Request> {
  const heap = makeHeap();
  let seen = 0;
  for await (const chunk of input) {
    heap.add(chunk);
    if (heap.bytes().length > largestRequest) throw new GitError('too_large', 'a request is too long');
    for (let end = endOfRequest(heap.bytes(), seen); ; end = endOfRequest(heap.bytes(), 0)) {
      seen = end.whole ? 0 : end.at;
      if (!end.whole) break;
      yield parseRequest(heap.take(end.at));
    }
  }
  if (heap.bytes().length > 0) throw new GitError('invalid', 'a request is cut off');
}
