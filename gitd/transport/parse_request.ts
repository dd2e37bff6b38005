/** Parses requests of protocol v2: one command with capabilities and arguments. */
import { hash } from 'node:crypto';
import { GitError } from '../git_error.ts';
import type { Oid } from '../protocol_records.ts';
import { makeByteBuffer } from './byte_buffer.ts';
import { maxRequestBytes } from './limit_request_size.ts';
import { toLine, readPacketAt } from './packet_lines.ts';

const oidPattern = /^[0-9a-f]{40}$/;

export type FetchRequest = {
  wants: Oid[];
  /** The client announces objects that it has. */
  hasHaves: boolean;
  /** The client ends the negotiation and wants the pack. */
  done: boolean;
  /** True if the answer depends on the current refs, in addition to the wanted objects. */
  asksRefs: boolean;
};

export type Request = {
  /** The raw bytes, with the flush packet. */
  bytes: Buffer;
  /** null: only a flush packet, which clients send to test the connection. */
  command: string | null;
  /** Arguments after the capabilities. */
  args: string[];
  /** Cache key: equal for clients that send the same request. */
  key: string;
};

/** Finds the end of the first request, or the offset searched so far. */
const endOfRequest = (bytes: Buffer, from: number): { at: number; whole: boolean } => {
  for (let at = from; ;) {
    const packet = readPacketAt(bytes, at);
    if (packet === null) return { at, whole: false };
    at = packet.next;
    if (packet.packet.kind === 'flush') return { at, whole: true };
  }
};

/** Capabilities that identify the client, not the request. */
const isAboutClient = (line: string): boolean => line.startsWith('agent=') || line.startsWith('session-id=');

/** @throws GitError `invalid` */
export const parseRequest = (bytes: Buffer): Request => {
  const [capabilities, args]: [string[], string[]] = [[], []];
  let list = capabilities;
  for (let at = 0; at < bytes.length;) {
    const packet = readPacketAt(bytes, at);
    if (packet === null) throw new GitError('invalid', 'a packet line is cut off');
    if (packet.packet.kind === 'delim') list = args;
    else if (packet.packet.kind === 'data') list.push(toLine(packet.packet.data));
    at = packet.next;
  }
  const commands = capabilities.filter((line) => line.startsWith('command='));
  if (commands.length > 1) throw new GitError('invalid', 'a request has two commands');
  const lines = [...capabilities.filter((line) => !isAboutClient(line)), '', ...args];
  return {
    bytes,
    command: commands[0]?.slice('command='.length) ?? null,
    args,
    key: hash('sha256', JSON.stringify(lines)),
  };
};

/** Parses the arguments of `fetch`. @throws GitError `invalid` for a want that is not an id */
export const parseFetch = ({ args }: Request): FetchRequest => {
  const wants = new Set<Oid>();
  for (const line of args) {
    if (!line.startsWith('want ')) continue;
    const oid = line.slice('want '.length).toLowerCase();
    if (!oidPattern.test(oid)) throw new GitError('invalid', 'a want is not an object id');
    wants.add(oid);
  }
  return {
    wants: [...wants],
    hasHaves: args.some((line) => line.startsWith('have ')),
    done: args.includes('done'),
    asksRefs: args.some((line) => line.startsWith('deepen-not ') || line.startsWith('want-ref ')),
  };
};

/** A fetch whose answer is one pack: without negotiation, shallow history or filters. */
export type PlainFetch = {
  wants: Oid[];
  haves: Oid[];
  isThin: boolean;
  hasProgress: boolean;
  takesOffsetDeltas: boolean;
  takesTags: boolean;
};

const plainWords = new Set(['done', 'thin-pack', 'no-progress', 'ofs-delta', 'include-tag']);
/** Each is looked up; git does that faster for many. */
const maxPlainHaves = 500;

/** Returns null for any other request. @throws GitError `invalid` for a want that is not an id */
export const parsePlainFetch = (request: Request): PlainFetch | null => {
  const { args } = request;
  const { wants, done } = parseFetch(request);
  const haves = args.filter((line) => line.startsWith('have ')).map((line) => line.slice('have '.length));
  const others = args.filter((line) => !line.startsWith('want ') && !line.startsWith('have '));
  const isPlain = others.every((line) => plainWords.has(line)) && haves.every((oid) => oidPattern.test(oid));
  if (!done || !isPlain || wants.length === 0 || haves.length > maxPlainHaves) return null;
  return {
    wants,
    haves,
    isThin: args.includes('thin-pack'),
    hasProgress: !args.includes('no-progress'),
    takesOffsetDeltas: args.includes('ofs-delta'),
    takesTags: args.includes('include-tag'),
  };
};

/**
 * Yields the requests of a client, each complete.
 * @throws GitError `too_large` for one beyond the limit, `invalid` for a malformed one
 */
export const readRequests = async function* readRequests(
  input: AsyncIterable<Buffer>,
): AsyncGenerator<Request> {
  const heap = makeByteBuffer();
  let seen = 0;
  for await (const chunk of input) {
    heap.add(chunk);
    if (heap.bytes().length > maxRequestBytes) throw new GitError('too_large', 'a request is too long');
    for (let end = endOfRequest(heap.bytes(), seen); ; end = endOfRequest(heap.bytes(), 0)) {
      seen = end.whole ? 0 : end.at;
      if (!end.whole) break;
      yield parseRequest(heap.take(end.at));
    }
  }
  if (heap.bytes().length > 0) throw new GitError('invalid', 'a request is cut off');
};
