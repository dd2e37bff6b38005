/** The `files` parameter of newer clients. A snippet here has one file. */
import { type Failure, badRequest } from '../../platform/errors.ts';

export type SentFile = { file_name?: string; content?: string };

/** Maximum number of characters, as of every long text. */
const maxTextLength = 1_048_576;

const actions = ['create', 'update', 'move'];

const refused = (problem: string): Failure => badRequest(`files ${problem}`);

const readText = (value: unknown, name: string): string | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) {
    throw refused(`[${name}] is invalid`);
  }
  if (value.length > maxTextLength && [...value].length > maxTextLength) {
    throw refused(`[${name}] is too long (maximum is ${maxTextLength} characters)`);
  }
  return value;
};

/**
 * Reads the one file; empty if none was sent.
 * @throws Failure 400 for another number of files, or an invalid one
 */
export const sentFile = (sent: unknown): SentFile => {
  if (sent === undefined || sent === null) return {};
  // A form sends a hash by index.
  const list: unknown[] = Array.isArray(sent) ? sent : Object.values(sent);
  const [file] = list;
  if (list.length !== 1) throw refused('must be one: a snippet has one file');
  if (typeof file !== 'object' || file === null) throw refused('is invalid');
  const { action, file_path, content } = file as Record<string, unknown>;
  if (action !== undefined && !actions.some((existing) => existing === action))
    throw refused('[action] is invalid');
  const [name, text] = [readText(file_path, 'file_path'), readText(content, 'content')];
  return { ...(name !== undefined && { file_name: name }), ...(text !== undefined && { content: text }) };
};
