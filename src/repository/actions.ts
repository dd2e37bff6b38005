/** The actions of a commit, from what a client sent to what a storage takes. */
import { type Failure, badRequest, invalid } from '../errors.ts';
import type { ActionProblem, CommitAction } from '../git/protocol_types.ts';
import { refusal } from './resolve.ts';

/** One change of a file, checked for its form. */
export type FileAction = Omit<CommitAction, 'content'> & { content?: Buffer };

const kinds = ['create', 'update', 'delete', 'move', 'chmod'] as const;
type Kind = (typeof kinds)[number];

const isKind = (word: unknown): word is Kind => (kinds as readonly unknown[]).includes(word);

export const encodings = ['text', 'base64'] as const;

export const contentOf = (content: string, encoding: string | undefined): Buffer =>
  Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');

const textIn = (
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

const path = { longest: 4_096 };
const word = { longest: 64 };

const flagIn = (action: Record<string, unknown>, name: string): boolean | undefined => {
  const text = textIn(action, name)?.toLowerCase();
  if (text === undefined || text === '') return undefined;
  return ['true', '1', 't', 'on', 'yes', 'y'].includes(text);
};

const needed = (value: string | undefined, name: string): string => {
  if (value === undefined || value === '') throw badRequest(`"${name}" not given`);
  return value;
};

/** A path is taken from the root, with or without a `/` before it. */
export const cleanPath = (text: string): string => text.replace(/^\/+/, '');

const optionalOid = (text: string | undefined): string | undefined => {
  if (text === undefined || text === '') return undefined;
  if (!/^[0-9a-f]{40}$/i.test(text)) throw invalid({ last_commit_id: ['is invalid'] });
  return text.toLowerCase();
};

const readAction = (sent: unknown): FileAction => {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw invalid({ actions: ['is invalid'] });
  }
  const given = sent as Record<string, unknown>;
  const kind = needed(textIn(given, 'action', word), 'action');
  if (!isKind(kind)) throw invalid({ action: ['does not have a valid value'] });
  const file_path = cleanPath(needed(textIn(given, 'file_path', path), 'file_path'));
  const previous = textIn(given, 'previous_path', path);
  const content = textIn(given, 'content');
  const encoding = textIn(given, 'encoding', word) ?? 'text';
  if (encoding !== '' && !(encodings as readonly string[]).includes(encoding)) {
    throw invalid({ encoding: ['does not have a valid value'] });
  }
  const last_commit_id = optionalOid(textIn(given, 'last_commit_id', word));
  const execute_filemode = flagIn(given, 'execute_filemode');
  if (kind === 'create' || kind === 'update') {
    if (content === undefined) throw badRequest('"content" not given');
  }
  if (kind === 'chmod' && execute_filemode === undefined) throw badRequest('"execute_filemode" not given');
  return {
    action: kind,
    file_path,
    ...(kind === 'move' && { previous_path: cleanPath(needed(previous, 'previous_path')) }),
    ...(content !== undefined && kind !== 'delete' && { content: contentOf(content, encoding) }),
    ...(last_commit_id !== undefined && { last_commit_id }),
    ...(execute_filemode !== undefined && { execute_filemode }),
  };
};

const ofHash = (sent: unknown): unknown =>
  typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? Object.values(sent) : sent;

/** @throws Failure 400 for what is no list of actions */
export const readActions = (sent: unknown): FileAction[] => {
  const list = ofHash(sent);
  if (!Array.isArray(list)) throw invalid({ actions: ['is invalid'] });
  return list.map(readAction);
};

/** The contents as one body, and where in it each action has its own. */
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

const texts: Record<ActionProblem['problem'], (path: string) => string> = {
  exists: () => 'A file with this name already exists',
  missing: () => "A file with this name doesn't exist",
  is_directory: () => 'A directory with this name already exists',
  invalid_path: (path) =>
    isTraversal(path) ? 'Path cannot include directory traversal' : `invalid path: '${path}'`,
  changed_meanwhile: (path) => `The file has changed since you started editing it: ${path}`,
  unchanged: () => 'There are no changes to commit',
  too_many: () => 'Too many changes in one commit',
};

/** Why a commit is not made, as GitLab says it: 400. */
export const actionRefusal = ({ problem, file_path }: ActionProblem): Failure =>
  refusal('bad_request', texts[problem](file_path));
