/** Validates the file actions of a commit and packs them for the git storage. */
import { type Failure, badRequest, invalid } from '../../../platform/errors.ts';
import type { ActionProblem, CommitAction } from '../../../platform/git/protocol_types.ts';
import { stripLeadingSlashes } from '../files/paths.ts';
import { refusal } from '../refs/resolve.ts';

/** A validated change of one file. */
export type FileAction = Omit<CommitAction, 'content'> & { content?: Buffer };

const kinds = ['create', 'update', 'delete', 'move', 'chmod'] as const;
type Kind = (typeof kinds)[number];

const isKind = (word: unknown): word is Kind => (kinds as readonly unknown[]).includes(word);

export const encodings = ['text', 'base64'] as const;

export const decodeContent = (content: string, encoding: string | undefined): Buffer =>
  Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');

const readText = (
  action: Record<string, unknown>,
  name: string,
  { longest = Infinity }: { longest?: number } = {},
): string | undefined => {
  const value = action[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || !value.isWellFormed()) throw invalid({ [name]: ['is invalid'] });
  if (value.length > longest || (longest < Infinity && value.includes('\0'))) {
    throw invalid({ [name]: ['is invalid'] });
  }
  return value;
};

const pathLimit = { longest: 4_096 };
const wordLimit = { longest: 64 };

const readFlag = (action: Record<string, unknown>, name: string): boolean | undefined => {
  const text = readText(action, name)?.toLowerCase();
  if (text === undefined || text === '') return undefined;
  return ['true', '1', 't', 'on', 'yes', 'y'].includes(text);
};

const requireValue = (value: string | undefined, name: string): string => {
  if (value === undefined || value === '') throw badRequest(`"${name}" not given`);
  return value;
};

const optionalOid = (text: string | undefined): string | undefined => {
  if (text === undefined || text === '') return undefined;
  if (!/^[0-9a-f]{40}$/i.test(text)) throw invalid({ last_commit_id: ['is invalid'] });
  return text.toLowerCase();
};

const readAction = (sent: unknown): FileAction => {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw invalid({ actions: ['is invalid'] });
  }
  const input = sent as Record<string, unknown>;
  const kind = requireValue(readText(input, 'action', wordLimit), 'action');
  if (!isKind(kind)) throw invalid({ action: ['does not have a valid value'] });
  const file_path = stripLeadingSlashes(requireValue(readText(input, 'file_path', pathLimit), 'file_path'));
  const previous = readText(input, 'previous_path', pathLimit);
  const content = readText(input, 'content');
  const encoding = readText(input, 'encoding', wordLimit) ?? 'text';
  if (encoding !== '' && !(encodings as readonly string[]).includes(encoding)) {
    throw invalid({ encoding: ['does not have a valid value'] });
  }
  const last_commit_id = optionalOid(readText(input, 'last_commit_id', wordLimit));
  const execute_filemode = readFlag(input, 'execute_filemode');
  if (kind === 'create' || kind === 'update') {
    if (content === undefined) throw badRequest('"content" not given');
  }
  if (kind === 'chmod' && execute_filemode === undefined) throw badRequest('"execute_filemode" not given');
  return {
    action: kind,
    file_path,
    ...(kind === 'move' && { previous_path: stripLeadingSlashes(requireValue(previous, 'previous_path')) }),
    ...(content !== undefined && kind !== 'delete' && { content: decodeContent(content, encoding) }),
    ...(last_commit_id !== undefined && { last_commit_id }),
    ...(execute_filemode !== undefined && { execute_filemode }),
  };
};

/** Converts a list that a form sent as an object with indexes. */
const hashToList = (sent: unknown): unknown =>
  typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? Object.values(sent) : sent;

/** Parses the `actions` parameter. @throws Failure 400 */
export const readActions = (sent: unknown): FileAction[] => {
  const list = hashToList(sent);
  if (!Array.isArray(list)) throw invalid({ actions: ['is invalid'] });
  return list.map(readAction);
};

/** Concatenates file contents into one body. Each action refers to its slice of it. */
export const packActions = (actions: readonly FileAction[]): { actions: CommitAction[]; body: Buffer } => {
  let offset = 0;
  const packed = actions.map(({ content, ...action }): CommitAction => {
    if (content === undefined) return action;
    const slice = { offset, length: content.length };
    offset += content.length;
    return { ...action, content: slice };
  });
  return {
    actions: packed,
    body: Buffer.concat(actions.flatMap(({ content }) => (content === undefined ? [] : [content]))),
  };
};

const isTraversal = (path: string): boolean => path.split('/').some((part) => part === '..' || part === '.');

const problemTexts: Record<ActionProblem['problem'], (path: string) => string> = {
  exists: () => 'A file with this name already exists',
  missing: () => "A file with this name doesn't exist",
  is_directory: () => 'A directory with this name already exists',
  invalid_path: (path) =>
    isTraversal(path) ? 'Path cannot include directory traversal' : `invalid path: '${path}'`,
  changed_meanwhile: (path) => `The file has changed since you started editing it: ${path}`,
  unchanged: () => 'There are no changes to commit',
  too_many: () => 'Too many changes in one commit',
};

/** Converts a failed action to a 400 with GitLab's message. */
export const actionRefusal = ({ problem, file_path }: ActionProblem): Failure =>
  refusal('bad_request', problemTexts[problem](file_path));
