/** Answers `info/refs`, which a client reads first. */
import type { Context, Storage, StreamHandler } from '../handler_types.ts';
import { file, flag } from '../exec/arguments.ts';
import { type HiddenRefs, chooseHiddenRefs, hiddenRefsKey, hideRefsConfig } from '../exec/hidden_refs.ts';
import { startWatchdog } from '../exec/transfer_watchdog.ts';
import { GitError, noRepository } from '../git_error.ts';
import { requireMarker } from '../storage/claim_storage.ts';
import { repositoryExists } from '../disk/storage_paths.ts';
import { getGeneration } from '../refs/ref_generation.ts';
import { type OutputParts, sendOutput } from './send_output.ts';
import { updateHead } from './set_head.ts';
import { emptyRepository } from './transport_folder.ts';
import { flushPacket, packet } from './packet_lines.ts';

/** Returns the variables that request a protocol version; none for version 0. */
export const protocolVariables = (protocol: 0 | 1 | 2): { GIT_PROTOCOL?: string } =>
  protocol === 0 ? {} : { GIT_PROTOCOL: `version=${protocol}` };

/**
 * Returns the folder to read from: an empty repository if this one does not exist and was never written to.
 * @throws GitError `no_repository`
 */
export const readableDir = async (context: Context): Promise<string> => {
  if (await repositoryExists(context.dir)) return context.dir;
  if (context.written) throw noRepository();
  await requireMarker(context.root);
  return await emptyRepository(context);
};

let cached: Promise<Buffer> | null = null;

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

/** Returns the first answer of protocol v2. It depends on git's version and configuration, not on the repository. */
export const capabilities = async (storage: Storage): Promise<Buffer> => {
  cached ??= readCapabilities(storage);
  try {
    return await cached;
  } catch (error) {
    cached = null;
    throw error;
  }
};

const prologue = (service: string): Buffer => Buffer.concat([packet(`# service=${service}\n`), flushPacket]);

type Advertised = {
  service: 'git-upload-pack' | 'git-receive-pack';
  dir: string;
  protocol: 0 | 1 | 2;
  hidden: HiddenRefs;
  stateless: boolean;
};

/** Writes the refs and capabilities that begin a conversation, by a process that then exits. */
export const writeAdvertisement = async (
  context: Context,
  { service, dir, protocol, hidden, stateless }: Advertised,
  client: Pick<OutputParts, 'output' | 'watching'>,
): Promise<void> => {
  const run = {
    command: service === 'git-upload-pack' ? 'upload-pack' : 'receive-pack',
    args: [...(stateless ? [flag('--stateless-rpc')] : []), flag('--http-backend-info-refs'), file(dir)],
    dir: null,
    seconds: 120,
    variables: protocolVariables(protocol),
    config: hideRefsConfig(hidden),
  } as const;
  const answer = `${service} ${protocol} ${stateless} ${hiddenRefsKey(hidden)}`;
  await sendOutput(context, { ...client, run, key: `${answer} ${getGeneration(dir)} ${dir}` });
};

export const advertise: StreamHandler<'transport.advertise'> = async (params, context, io) => {
  const { service, protocol, head } = params;
  if (service !== 'git-upload-pack' && service !== 'git-receive-pack')
    throw new GitError('invalid', 'unknown service');
  if (service === 'git-upload-pack' && protocol === 2) {
    io.output.end(await capabilities(context));
    return {};
  }
  const dir = await readableDir(context);
  if (dir === context.dir) await updateHead(dir, head);
  io.output.write(prologue(service));
  const advertised = { service, dir, protocol, hidden: chooseHiddenRefs(params), stateless: true } as const;
  const watching = startWatchdog(context.signal);
  try {
    await writeAdvertisement(context, advertised, { output: io.output, watching });
  } finally {
    watching.dispose();
  }
  io.output.end();
  return {};
};
