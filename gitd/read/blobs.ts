import type { Context, MethodHandler, StreamHandler, StreamIo } from '../handler_types.ts';
import { flag, isOid, oid } from '../exec/arguments.ts';
import { streamProcessChain } from '../exec/stream_process_chain.ts';
import { transferShares } from '../exec/transfer_shares.ts';
import { GitError } from '../git_error.ts';
import { folderMode, submoduleMode } from '../odb/raw_tree.ts';
import type { Client, Oid } from '../protocol_records.ts';
import { isReachableBlob } from '../refs/check_reachable.ts';
import { startWatchdog } from '../exec/transfer_watchdog.ts';
import { findEntry, modeText } from './list_tree.ts';

/** Maximum bytes that the pool returns in one piece. */
const maxPieceBytes = 256 * 2 ** 20;
/** Larger blobs are streamed by a separate process, so that they block no other read and are never held in memory. */
const smallBlob = 2 ** 20;

type Blob = { id: Oid; size: number };

const findBlob = async ({ pools, dir }: Context, id: Oid): Promise<Blob | null> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const info = await pools.catFile.info(dir, id);
  return info?.type === 'blob' ? { id: info.id, size: info.size } : null;
};

const bytesOfBlob = async ({ pools, dir }: Context, { id, size }: Blob): Promise<Buffer> =>
  (await pools.catFile.contents(dir, id, size))?.data ?? Buffer.alloc(0);

const isWhole = ({ size }: Blob, max: number): boolean => size <= Math.min(max, maxPieceBytes);

const blobAtPath = async (
  context: Context,
  commit: Oid,
  path: string,
): Promise<(Blob & { mode: string }) | null> => {
  const entry = await findEntry(context, commit, path);
  if (entry === null || entry.mode === folderMode || entry.mode === submoduleMode) return null;
  const blob = await findBlob(context, entry.id);
  return blob === null ? null : { ...blob, mode: modeText(entry.mode) };
};

export const readBlobAt: MethodHandler<'blob.at'> = async ({ commit, path, max }, context) => {
  const blob = await blobAtPath(context, commit, path);
  if (blob === null) return { result: null };
  if (!isWhole(blob, max)) return { result: { ...blob, whole: false } };
  return { result: { ...blob, whole: true }, body: await bytesOfBlob(context, blob) };
};

export const getBlob: MethodHandler<'blob.get'> = async ({ id, max, ...sight }, context) => {
  const blob = await findBlob(context, id);
  if (blob === null || !(await isReachableBlob(context, blob.id, sight))) return { result: null };
  const { size } = blob;
  if (!isWhole(blob, max)) return { result: { size, whole: false } };
  return { result: { size, whole: true }, body: await bytesOfBlob(context, blob) };
};

const maxSizes = 1_000;

/** Asks one pooled process for all sizes at once. */
export const readBlobSizes: MethodHandler<'blob.sizes'> = async ({ ids }, context) => {
  if (ids.length > maxSizes) throw new GitError('invalid', 'too many ids');
  const blobs = await Promise.all(ids.map(async (id) => await findBlob(context, id)));
  return { result: { sizes: blobs.map((blob) => blob?.size ?? null) } };
};

const sendBlob = async (
  context: Context,
  blob: Blob,
  { output }: StreamIo,
  client: Client | undefined,
): Promise<void> => {
  if (blob.size <= smallBlob) {
    output.end(await bytesOfBlob(context, blob));
    return;
  }
  const { exec, dir, signal } = context;
  const args = [flag('blob'), oid(blob.id)];
  const process = await exec.start({
    command: 'cat-file',
    args,
    dir,
    slot: 'transfer',
    shares: transferShares('read', client),
    seconds: 3600,
    signal,
  });
  process.stdin.end();
  const progress = startWatchdog(signal);
  try {
    const through = [progress.toClient()];
    await streamProcessChain({ processes: [process], output, through, signal: progress.signal });
  } finally {
    progress.dispose();
  }
};

export const streamBlob: StreamHandler<'blob.read'> = async (params, context, io) => {
  const blob =
    'id' in params
      ? await findBlob(context, params.id)
      : await blobAtPath(context, params.commit, params.path);
  if (blob === null) {
    io.output.end();
    return null;
  }
  await sendBlob(context, blob, io, params.client);
  return { mode: '100644', ...blob };
};
