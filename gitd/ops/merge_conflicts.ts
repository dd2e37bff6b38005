/** Merges two commits and says what conflicts, with the texts in which git marked the conflicts. */
import { isUtf8 } from 'node:buffer';
import type { Answer, Context } from '../handler_types.ts';
import { flag, oid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { countDifferingPaths } from '../diff/count_differing_paths.ts';
import { makeTreeEditor, type TreeEditor } from '../odb/edit_tree.ts';
import { withQuarantine, type Quarantine } from '../odb/quarantine.ts';
import { executableMode, fileMode, parseTree, type TreeItem } from '../odb/raw_tree.ts';
import { readLooseObject } from '../odb/read_loose_object.ts';
import { readRawCommit } from '../pool/read_object.ts';
import type { Methods } from '../protocol.ts';
import type { ConflictKind, ConflictOfFile, Oid } from '../protocol_records.ts';
import { decodeFileName } from '../decode_text.ts';
import { readFolder } from '../read/list_tree.ts';

/** Time limit; only hostile trees take longer. */
const seconds = 20;
/** Bytes of the list of conflicts. */
const maxListBytes = 8 * 2 ** 20;
const maxFolderBytes = 24 * 2 ** 20;

/** A conflict by the name of its file as byte string. */
export type NamedConflict = { name: string; kind: ConflictKind };
export type ConflictingMerge = { tree: Oid; conflicts: NamedConflict[] };

const kinds: readonly (readonly [RegExp, ConflictKind])[] = [
  [/\(contents\)/u, 'text'],
  [/\(binary\)/u, 'binary'],
  [/\(modify\/delete\)/u, 'deleted'],
  [/rename/u, 'renamed'],
  [/\(distinct (?:modes|types)\)/u, 'mode'],
  [/submodule/u, 'submodule'],
];

const toKind = (type: string): ConflictKind => kinds.find(([pattern]) => pattern.test(type))?.[1] ?? 'other';

type Stage = { mode: string; name: string };

/** Parses `<mode> <oid> <stage> TAB <name>`. */
const parseStage = (line: string): Stage => {
  const tab = line.indexOf('\t');
  return { mode: line.slice(0, 6), name: line.slice(tab + 1) };
};

const isPlain = ({ mode }: Stage): boolean => mode === '100644' || mode === '100755';

/** Parses messages: `<number of names> NUL <names> NUL <type> NUL <text> NUL`. */
const parseMessages = (parts: readonly string[]): NamedConflict[] => {
  const conflicts: NamedConflict[] = [];
  for (let at = 0; at < parts.length - 2;) {
    const count = Number(parts[at]);
    if (!Number.isSafeInteger(count) || count < 0)
      throw new GitError('internal', 'merge-tree gave unexpected output');
    const type = parts[at + 1 + count] ?? '';
    if (type.startsWith('CONFLICT')) conflicts.push({ name: parts[at + 1] ?? '', kind: toKind(type) });
    at += count + 3;
  }
  return conflicts;
};

/** Parses the answer of `merge-tree -z --messages`. If git reports several conflicts of a file, any other kind overrides `text`. */
const parseAnswer = (stdout: Buffer): ConflictingMerge => {
  const [tree = '', ...rest] = stdout.toString('latin1').split('\0');
  const end = rest.indexOf('');
  const stages = rest.slice(0, end).map(parseStage);
  const byName = new Map<string, ConflictKind>(stages.map(({ name }) => [name, 'other']));
  for (const { name, kind } of parseMessages(rest.slice(end + 1))) {
    const now = byName.get(name);
    if (now === undefined || now === 'other' || now === 'text') byName.set(name, kind);
  }
  for (const stage of stages)
    if (!isPlain(stage) && byName.get(stage.name) === 'text') byName.set(stage.name, 'mode');
  return { tree, conflicts: [...byName].map(([name, kind]) => ({ name, kind })) };
};

/** Merges two commits in a quarantine; null: they merge without conflicts. */
export const findConflicts = async (
  context: Context,
  quarantine: Quarantine,
  { ours, theirs }: { ours: Oid; theirs: Oid },
  { isDurable }: { isDurable: boolean },
): Promise<ConflictingMerge | null> => {
  const [one, other] = [await readRawCommit(context, ours), await readRawCommit(context, theirs)];
  await countDifferingPaths(context, one.tree, other.tree);
  const flags = [
    flag('--write-tree'),
    flag('-z'),
    flag('--messages'),
    flag('--allow-unrelated-histories'),
    flag('--end-of-options'),
  ];
  const { code, stdout } = await context.exec.run({
    command: 'merge-tree',
    args: [...flags, oid(ours), oid(theirs)],
    dir: context.dir,
    slot: 'interactive',
    seconds,
    signal: context.signal,
    variables: quarantine.env,
    config: [['merge.conflictStyle', 'merge'], ...(isDurable ? [] : [['core.fsync', 'none'] as const])],
    maxOutput: maxListBytes,
    codes: [0, 1],
  });
  return code === 0 ? null : parseAnswer(stdout);
};

/** Opens an editor of a tree whose objects may be in the quarantine. */
export const editMergedTree = (context: Context, { objects }: Quarantine, tree: Oid): TreeEditor =>
  makeTreeEditor(tree, async (id): Promise<readonly TreeItem[]> => {
    const fresh = await readLooseObject(objects, id, maxFolderBytes);
    return fresh === null ? await readFolder(context, id) : parseTree(fresh.data);
  });

/** Reads a file of the merge, from the quarantine or the repository. */
const readFile = async (
  context: Context,
  { objects }: Quarantine,
  id: Oid,
  max: number,
): Promise<Buffer | 'too_large'> => {
  try {
    const fresh = await readLooseObject(objects, id, max);
    if (fresh !== null) return fresh.data.length > max ? 'too_large' : fresh.data;
    // git wrote nothing if the repository has the same bytes already.
    return (await context.pools.catFile.contents(context.dir, id, max))?.data ?? 'too_large';
  } catch (error) {
    if (error instanceof GitError && error.kind === 'too_large') return 'too_large';
    throw error;
  }
};

type Reading = { context: Context; quarantine: Quarantine; editor: TreeEditor; max: number };

/** Reads the marked text of a file, or says why it is not text to be edited. */
const readMarked = async (
  { context, quarantine, editor, max }: Reading,
  name: string,
): Promise<Buffer | ConflictKind> => {
  const entry = await editor.find(name);
  if (entry.kind !== 'found' || (entry.mode !== fileMode && entry.mode !== executableMode)) return 'mode';
  const content = await readFile(context, quarantine, entry.id, max);
  if (content === 'too_large') return content;
  if (content.includes(0)) return 'binary';
  const isDecodable = isUtf8(content) && isUtf8(Buffer.from(name, 'latin1'));
  return isDecodable ? content : 'encoding';
};

type Params = Methods['merge.conflicts']['params'];

/** Reads the files in their order, until `max_total` bytes are read. */
const readFiles = async (
  reading: Omit<Reading, 'max'>,
  conflicts: readonly NamedConflict[],
  { max_bytes, max_total }: Params,
): Promise<{ files: ConflictOfFile[]; body: Buffer }> => {
  const files: ConflictOfFile[] = [];
  const bodies: Buffer[] = [];
  let offset = 0;
  for (const { name, kind } of conflicts) {
    const max = Math.min(max_bytes, max_total - offset);
    const marked = kind === 'text' ? await readMarked({ ...reading, max }, name) : kind;
    const path = decodeFileName(name);
    if (typeof marked === 'string') files.push({ path, kind: marked });
    else {
      files.push({ path, kind: 'text', content: { offset, length: marked.length } });
      bodies.push(marked);
      offset += marked.length;
    }
  }
  return { files, body: Buffer.concat(bodies) };
};

export const listConflicts = async (params: Params, context: Context): Promise<Answer<'merge.conflicts'>> =>
  await withQuarantine(context.dir, false, async (quarantine): Promise<Answer<'merge.conflicts'>> => {
    const merge = await findConflicts(context, quarantine, params, { isDurable: false });
    if (merge === null) return { result: null };
    const editor = editMergedTree(context, quarantine, merge.tree);
    const some = merge.conflicts.slice(0, params.max_files);
    const { files, body } = await readFiles({ context, quarantine, editor }, some, params);
    return { result: { files, total: merge.conflicts.length }, body };
  });
