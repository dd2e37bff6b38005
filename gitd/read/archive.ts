/** A commit's files in one: the same commit gives the same bytes. */
import { existsSync } from 'node:fs';
import type { Duplex, Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Context, StreamIo } from '../context.ts';
import { flag, oid, paths, text, type Argument } from '../exec/arguments.ts';
import { sendOutput } from '../exec/send.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { transferShares } from '../exec/transfer_shares.ts';
import { GitError } from '../failure.ts';
import { requireCommit } from '../ops/objects.ts';
import { folderMode } from '../odb/tree.ts';
import type { Oid, Streams } from '../protocol.ts';
import { watch } from '../transport/watch.ts';
import { countFiles } from './count_files.ts';
import { findEntry, treeOf } from './tree.ts';

type Params = Streams['archive.read']['params'];

const hour = 3600;
const bzip2 = ['/usr/bin/bzip2', '/bin/bzip2'];

const formats: Record<Params['format'], Argument> = {
  tar: flag('--format=tar'),
  'tar.gz': flag('--format=tar'),
  'tar.bz2': flag('--format=tar'),
  zip: flag('--format=zip'),
};

/** Longer than a file's name may be: it is made of the names of a project, a branch and a commit. */
const longestPrefix = 2048;

/** `a/b/`, or nothing: where it is unpacked, nothing gets out of that folder. */
const checkPrefix = (prefix: string): void => {
  const parts = prefix.split('/').slice(0, -1);
  const isFolder = prefix === '' || prefix.endsWith('/');
  const isPlain = parts.every((part) => !['', '.', '..'].includes(part)) && !/\p{Cc}|\\/u.test(prefix);
  if (!isFolder || !isPlain || prefix.length > longestPrefix)
    throw new GitError('invalid', 'the prefix is no folder');
};

/** What is packed, as a tree to count; null: one file. */
const findTree = async (context: Context, commit: Oid, path: string): Promise<Oid | null> => {
  if (path === '') return treeOf(context, commit);
  const entry = await findEntry(context, commit, path);
  if (entry === null) throw new GitError('missing', 'there is nothing at the path');
  return entry.mode === folderMode ? entry.id : null;
};

/** The program that packs what git wrote, where there is one. */
const startPacker = async ({ exec, signal }: Context, format: Params['format']): Promise<GitProcess[]> => {
  if (format !== 'tar.bz2') return [];
  return [
    await exec.start({ command: 'bzip2', args: [flag('-c')], dir: null, slot: null, seconds: hour, signal }),
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
    seconds: hour,
    signal,
  });
  process.stdin.end();
  const packer = await startPacker(context, format);
  // gzip's header has neither a name nor a time here.
  const through = [...(format === 'tar.gz' ? [createGzip()] : []), meter];
  await sendOutput({ processes: [process, ...packer], output, through, signal });
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
  const progress = watch(context.signal);
  try {
    await sendArchive(params, { ...context, signal: progress.signal }, io.output, progress.toClient());
    return {};
  } finally {
    progress.end();
  }
};
