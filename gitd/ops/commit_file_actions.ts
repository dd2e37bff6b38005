/** Creates a commit from file actions, without an index or a working tree. */
import type { Answer, Context } from '../handler_types.ts';
import { flag, oid, paths } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { buildCommit } from '../odb/raw_commit.ts';
import { makeTreeEditor } from '../odb/edit_tree.ts';
import { isJudgedByContent } from '../odb/safe_paths.ts';
import { toByteString, submoduleMode } from '../odb/raw_tree.ts';
import type { Methods } from '../protocol.ts';
import type { ActionProblem, CommitAction, Oid } from '../protocol_records.ts';
import { readFolder } from '../read/list_tree.ts';
import { ensureRepository } from '../storage/create_repository.ts';
import { applyAction, type EditContext } from './apply_file_action.ts';
import { passesPushCheck, maxCheckedBytes } from './check_git_files.ts';
import { flushObjects, makeRepositoryWriter } from '../odb/flush_objects.ts';
import { readRawCommit } from '../pool/read_object.ts';

type Params = Methods['commit.actions']['params'];

const maxActions = 10_000;

/** Finds the last commit that changed a path; null if none did. */
const findLastCommit = async (context: Context, tip: Oid, path: string): Promise<Oid | null> => {
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

const checkLastCommits = async (
  context: Context,
  { parent, actions }: Params,
): Promise<ActionProblem | null> => {
  const latest = new Map<string, Oid | null>();
  for (const { file_path, previous_path, last_commit_id } of actions) {
    const path = previous_path ?? file_path;
    if (last_commit_id === undefined || path === '' || path.includes('\0')) continue;
    if (!latest.has(path)) latest.set(path, parent && (await findLastCommit(context, parent, path)));
    if (latest.get(path) !== last_commit_id) return { problem: 'changed_meanwhile', file_path };
  }
  return null;
};

const makeContentReader =
  (body: Buffer): EditContext['readContent'] =>
  ({ content }) => {
    const { offset, length } = content ?? { offset: 0, length: 0 };
    const isInside = [offset, length, body.length - offset - length].every(
      (n) => Number.isSafeInteger(n) && n >= 0,
    );
    if (!isInside) throw new GitError('invalid', 'content range is outside the request body');
    return body.subarray(offset, offset + length);
  };

const readSmallBlob = async ({ pools, dir }: Context, id: Oid): Promise<Buffer | null> => {
  const info = await pools.catFile.info(dir, id);
  if (info === null || info.size > maxCheckedBytes) return null;
  return (await pools.catFile.contents(dir, id, maxCheckedBytes))?.data ?? null;
};

/** Checks the files that git interprets and that an action changed. */
const checkGitFiles = async (
  context: Context,
  { editor, written }: { editor: EditContext['editor']; written: Map<Oid, Uint8Array> },
  actions: CommitAction[],
): Promise<ActionProblem | null> => {
  const touched = new Set(actions.map(({ file_path }) => file_path).filter(isJudgedByContent));
  for (const path of touched) {
    const entry = await editor.find(toByteString(path));
    if (entry.kind !== 'found' || entry.isFolder || entry.mode === submoduleMode) continue;
    const ours = written.get(entry.id);
    const content = ours === undefined ? await readSmallBlob(context, entry.id) : Buffer.from(ours);
    const name = toByteString(path.slice(path.lastIndexOf('/') + 1));
    const isSmall = content !== null && content.length <= maxCheckedBytes;
    const isFit = isSmall && (await passesPushCheck(context, { name, mode: entry.mode, content }));
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
  if (actions.length > maxActions) return { result: { problem: 'too_many', file_path: '' } };
  if (parent === null) await ensureRepository(context);
  const root = parent === null ? null : (await readRawCommit(context, parent)).tree;
  const changed = await checkLastCommits(context, params);
  if (changed !== null) return { result: changed };

  const writer = makeRepositoryWriter(context);
  const written = new Map<Oid, Uint8Array>();
  const add: typeof writer.add = (kind, content) => {
    const id = writer.add(kind, content);
    written.set(id, content);
    return id;
  };
  const editor = makeTreeEditor(root, async (id) => readFolder(context, id));
  const work: EditContext = { editor, writer: { add }, readContent: makeContentReader(body) };
  for (const action of actions) {
    const problem = await applyAction(work, action);
    if (problem !== null) return { result: problem };
  }
  const unfit = await checkGitFiles(context, { editor, written }, actions);
  if (unfit !== null) return { result: unfit };

  const tree = await editor.build(writer);
  const parents = parent === null ? [] : [parent];
  const id = writer.add('commit', buildCommit({ tree, parents, author, committer, message }));
  await flushObjects(writer);
  return { result: { id } };
};
