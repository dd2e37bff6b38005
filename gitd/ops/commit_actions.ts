/** A commit of file actions, without an index and without a working tree. */
import type { Answer, Context } from '../context.ts';
import { flag, oid, paths } from '../exec/arguments.ts';
import { GitError } from '../failure.ts';
import { buildCommit } from '../odb/commit.ts';
import { makeTreeEditor } from '../odb/edit_tree.ts';
import { isJudgedByContent } from '../odb/paths.ts';
import { bytesOf, submoduleMode } from '../odb/tree.ts';
import type { ActionProblem, CommitAction, Methods, Oid } from '../protocol.ts';
import { readFolder } from '../read/tree.ts';
import { ensureRepository } from '../storage/create.ts';
import { applyAction, type Work } from './actions.ts';
import { isFitForGit, largestJudged } from './judge_files.ts';
import { flush, readRawCommit, writerOf } from './objects.ts';

type Params = Methods['commit.actions']['params'];

const mostActions = 10_000;

/** The last commit that changed a path; null: none did. */
const lastCommitOf = async (context: Context, tip: Oid, path: string): Promise<Oid | null> => {
  const { stdout } = await context.exec.run({
    command: 'rev-list',
    args: [flag('--max-count=1'), oid(tip), ...paths([path])],
    dir: context.dir,
    slot: 'interactive',
    seconds: 20,
    signal: context.signal,
  });
  return stdout.toString('latin1').trim() || null;
};

const checkKnown = async (context: Context, { parent, actions }: Params): Promise<ActionProblem | null> => {
  const latest = new Map<string, Oid | null>();
  for (const { file_path, previous_path, last_commit_id } of actions) {
    const path = previous_path ?? file_path;
    if (last_commit_id === undefined || path === '' || path.includes('\0')) continue;
    // oxlint-disable-next-line no-await-in-loop -- one git at a time for one call
    if (!latest.has(path)) latest.set(path, parent && (await lastCommitOf(context, parent, path)));
    if (latest.get(path) !== last_commit_id) return { problem: 'changed_meanwhile', file_path };
  }
  return null;
};

const slicer =
  (body: Buffer): Work['contentOf'] =>
  ({ content }) => {
    const { offset, length } = content ?? { offset: 0, length: 0 };
    const isInside = [offset, length, body.length - offset - length].every(
      (n) => Number.isSafeInteger(n) && n >= 0,
    );
    if (!isInside) throw new GitError('invalid', 'a content does not lie in the body');
    return body.subarray(offset, offset + length);
  };

const contentOfBlob = async ({ pools, dir }: Context, id: Oid): Promise<Buffer | null> => {
  const info = await pools.catFile.info(dir, id);
  if (info === null || info.size > largestJudged) return null;
  return (await pools.catFile.contents(dir, id, largestJudged))?.data ?? null;
};

/** Looks at the files that git reads where an action left one of them. */
const judge = async (
  context: Context,
  { editor, written }: { editor: Work['editor']; written: Map<Oid, Uint8Array> },
  actions: CommitAction[],
): Promise<ActionProblem | null> => {
  const touched = new Set(actions.map(({ file_path }) => file_path).filter(isJudgedByContent));
  for (const path of touched) {
    const found = await editor.look(bytesOf(path)); // oxlint-disable-line no-await-in-loop -- one git at a time
    if (found.is !== 'there' || found.isFolder || found.mode === submoduleMode) continue;
    const ours = written.get(found.id);
    // oxlint-disable-next-line no-await-in-loop -- one git at a time
    const content = ours === undefined ? await contentOfBlob(context, found.id) : Buffer.from(ours);
    const name = bytesOf(path.slice(path.lastIndexOf('/') + 1));
    const isSmall = content !== null && content.length <= largestJudged;
    // oxlint-disable-next-line no-await-in-loop -- one git at a time
    const isFit = isSmall && (await isFitForGit(context, { name, mode: found.mode, content }));
    if (!isFit) return { problem: 'invalid_path', file_path: path };
  }
  return null;
};

export const commitActions = async (
  params: Params,
  context: Context,
  body: Buffer,
): Promise<Answer<'commit.actions'>> => {
  const { parent, actions, author, committer, message } = params;
  if (actions.length > mostActions) return { result: { problem: 'too_many', file_path: '' } };
  if (parent === null) await ensureRepository(context);
  const root = parent === null ? null : (await readRawCommit(context, parent)).tree;
  const changed = await checkKnown(context, params);
  if (changed !== null) return { result: changed };

  const writer = writerOf(context);
  const written = new Map<Oid, Uint8Array>();
  const add: typeof writer.add = (kind, content) => {
    const id = writer.add(kind, content);
    written.set(id, content);
    return id;
  };
  const editor = makeTreeEditor(root, async (id) => readFolder(context, id));
  const work: Work = { editor, writer: { add }, contentOf: slicer(body) };
  for (const action of actions) {
    const problem = await applyAction(work, action); // oxlint-disable-line no-await-in-loop -- order matters
    if (problem !== null) return { result: problem };
  }
  const unfit = await judge(context, { editor, written }, actions);
  if (unfit !== null) return { result: unfit };

  const tree = await editor.build(writer);
  const parents = parent === null ? [] : [parent];
  const id = writer.add('commit', buildCommit({ tree, parents, author, committer, message }));
  await flush(writer);
  return { result: { id } };
};
