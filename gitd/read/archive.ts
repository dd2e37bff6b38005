/** Streams the files of a commit as an archive. The same commit gives the same bytes. */
import { existsSync } from 'node:fs';
import type { Duplex, Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Context, StreamIo } from '../handler_types.ts';
import { flag, oid, paths, text, type Argument } from '../exec/arguments.ts';
import { streamProcessChain } from '../exec/stream_process_chain.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { transferShares } from '../exec/transfer_shares.ts';
import { GitError } from '../git_error.ts';
import { requireCommit } from '../pool/read_object.ts';
import { folderMode } from '../odb/raw_tree.ts';
import type { Streams } from '../protocol.ts';
import type { Oid } from '../protocol_records.ts';
import { startWatchdog } from '../exec/transfer_watchdog.ts';
import { countFiles } from './check_tree_size.ts';
import { findEntry, resolveTree } from './list_tree.ts';

type Params = Streams['archive.read']['params'];

const hourSeconds = 3_600;
const bzip2 = ['/usr/bin/bzip2', '/bin/bzip2'];

const formats: Record<Params['format'], Argument> = {
  tar: flag('--format=tar'),
  'tar.gz': flag('--format=tar'),
  'tar.bz2': flag('--format=tar'),
  zip: flag('--format=zip'),
};

/** Maximum bytes of a prefix. It is built from the names of a project, a branch and a commit. */
const maxPrefixBytes = 2048;

/** Checks the prefix: `a/b/` or empty, so that nothing is unpacked outside. */
const checkPrefix = (prefix: string): void => {
  const parts = prefix.split('/').slice(0, -1);
  const isFolder = prefix === '' || prefix.endsWith('/');
  const isPlain = parts.every((part) => !['', '.', '..'].includes(part)) && !/\p{Cc}|\\/u.test(prefix);
  if (!isFolder || !isPlain || prefix.length > maxPrefixBytes)
    throw new GitError('invalid', 'the prefix is not a folder');
};

/** The tree to pack; null for a single file. */
const findTree = async (context: Context, commit: Oid, path: string): Promise<Oid | null> => {
  if (path === '') return resolveTree(context, commit);
  const entry = await findEntry(context, commit, path, true);
  if (entry === null) throw new GitError('missing', 'path not found');
  return entry.mode === folderMode ? entry.id : null;
};

/** The program that compresses git's output; null if none is needed. */
const startPacker = async ({ exec, signal }: Context, format: Params['format']): Promise<GitProcess[]> => {
  if (format !== 'tar.bz2') return [];
  return [
    await exec.start({
      command: 'bzip2',
      args: [flag('-c')],
      dir: null,
      slot: null,
      seconds: hourSeconds,
      signal,
    }),
  ];
};

const sendArchive = async (
  { commit, format, prefix, path = '', client }: Params,
  context: Context,
  output: Writable,
  meter: Duplex,
): Promise<void> => {
  const { exec, dir, signal } = context;
  const process = await exec.start({
    command: 'archive',
    args: [formats[format], text('--prefix=', prefix), oid(commit), ...(path === '' ? [] : paths([path]))],
    dir,
    slot: 'transfer',
    shares: transferShares('read', client),
    seconds: hourSeconds,
    signal,
  });
  process.stdin.end();
  const packer = await startPacker(context, format);
  // gzip's header has no name and no time.
  const through = [...(format === 'tar.gz' ? [createGzip()] : []), meter];
  await streamProcessChain({ processes: [process, ...packer], output, through, signal });
};

/** @throws GitError `invalid` for a format that this machine cannot make; `too_large` for a tree of too many files */
export const readArchive = async (
  params: Params,
  context: Context,
  io: StreamIo,
): Promise<Record<string, never>> => {
  const { commit, format, prefix, path = '' } = params;
  checkPrefix(prefix);
  if (format === 'tar.bz2' && !bzip2.some((file) => existsSync(file)))
    throw new GitError('invalid', 'bzip2 is not there');
  await requireCommit(context, commit);
  const start = await findTree(context, commit, path);
  if (start !== null) await countFiles(context, start);
  const progress = startWatchdog(context.signal);
  try {
    await sendArchive(params, { ...context, signal: progress.signal }, io.output, progress.toClient());
    return {};
  } finally {
    progress.dispose();
  }
};
