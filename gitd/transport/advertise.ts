/** `info/refs`: what a client reads first. */
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context, Storage, StreamHandler } from '../context.ts';
import { file, flag } from '../exec/arguments.ts';
import { type Hidden, hiddenFor, hidingRefs } from '../exec/env.ts';
import { GitError, noRepository } from '../failure.ts';
import { requireMarker } from '../storage/claim.ts';
import { isThere } from '../storage/layout.ts';
import { bringHead } from './head.ts';
import { emptyRepository } from './own_folder.ts';
import { flushPacket, packet } from './pktline.ts';

/** The version as the client may ask for it: 0 is not said. */
export const protocolVariables = (protocol: 0 | 1 | 2): { GIT_PROTOCOL?: string } =>
  protocol === 0 ? {} : { GIT_PROTOCOL: `version=${protocol}` };

/**
 * The folder to read from: an empty repository's where none is there and none was ever written.
 * @throws GitError `no_repository`
 */
export const readableDir = async (context: Context): Promise<string> => {
  if (await isThere(context.dir)) return context.dir;
  if (context.written) throw noRepository();
  await requireMarker(context.root);
  return await emptyRepository(context);
};

let known: Promise<Buffer> | null = null;

const readCapabilities = async (storage: Storage): Promise<Buffer> => {
  const dir = await emptyRepository(storage);
  const { stdout } = await storage.exec.run({
    command: 'upload-pack',
    args: [flag('--stateless-rpc'), flag('--http-backend-info-refs'), file(dir)],
    dir: null,
    slot: null,
    seconds: 30,
    variables: protocolVariables(2),
  });
  return stdout;
};

/** What protocol v2 begins with. It depends on git's version and our configuration, not on the repository. */
export const capabilities = async (storage: Storage): Promise<Buffer> => {
  known ??= readCapabilities(storage);
  try {
    return await known;
  } catch (error) {
    known = null;
    throw error;
  }
};

const prologue = (service: string): Buffer => Buffer.concat([packet(`# service=${service}\n`), flushPacket]);

type Advertised = {
  service: 'git-upload-pack' | 'git-receive-pack';
  dir: string;
  protocol: 0 | 1 | 2;
  hidden: Hidden;
  stateless: boolean;
};

/** Writes the refs and capabilities that a conversation begins with, by a process that ends with it. */
export const writeAdvertisement = async (
  context: Context,
  { service, dir, protocol, hidden, stateless }: Advertised,
  output: Writable,
): Promise<void> => {
  const git = await context.exec.start({
    command: service === 'git-upload-pack' ? 'upload-pack' : 'receive-pack',
    args: [...(stateless ? [flag('--stateless-rpc')] : []), flag('--http-backend-info-refs'), file(dir)],
    dir: null,
    slot: 'interactive',
    seconds: 120,
    signal: context.signal,
    variables: protocolVariables(protocol),
    config: hidingRefs(hidden),
  });
  git.stdin.end();
  await pipeline(git.stdout, output, { end: false });
  const { code } = await git.ended;
  if (code !== 0) throw new GitError('internal', `git ended with ${code}: ${git.complaint()}`);
};

export const advertise: StreamHandler<'transport.advertise'> = async (params, context, io) => {
  const { service, protocol, head } = params;
  if (service !== 'git-upload-pack' && service !== 'git-receive-pack')
    throw new GitError('invalid', 'there is no such service');
  if (service === 'git-upload-pack' && protocol === 2) {
    io.output.end(await capabilities(context));
    return {};
  }
  const dir = await readableDir(context);
  if (dir === context.dir) await bringHead(dir, head);
  io.output.write(prologue(service));
  const hidden = hiddenFor(params);
  await writeAdvertisement(context, { service, dir, protocol, hidden, stateless: true }, io.output);
  io.output.end();
  return {};
};
