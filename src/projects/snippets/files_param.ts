/** Reads the `files` parameter. */
import { type Failure, badRequest } from '../../platform/errors.ts';
import { type FileAction, fileActions } from './apply_file_actions.ts';

/** More than a snippet has files, so that a request can replace each of them. */
const maxActions = 30;

const refused = (problem: string): Failure => badRequest(`files ${problem}`);

const readText = (value: unknown, name: string): string | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw refused(`[${name}] is invalid`);
  return value;
};

const readAction = (sent: unknown): FileAction => {
  if (typeof sent !== 'object' || sent === null) throw refused('is invalid');
  const { action, file_path, previous_path, content } = sent as Record<string, unknown>;
  const validAction = fileActions.find((name) => name === action);
  if (validAction === undefined && action !== undefined && action !== null)
    throw refused('[action] is invalid');
  return {
    action: validAction,
    file_path: readText(file_path, 'file_path'),
    previous_path: readText(previous_path, 'previous_path'),
    content: readText(content, 'content'),
  };
};

/**
 * Reads the changes of files; undefined if none were sent.
 * @throws Failure 400 for invalid changes
 */
export const readFileActions = (sent: unknown): FileAction[] | undefined => {
  if (sent === undefined || sent === null) return undefined;
  // A form sends a hash by index.
  const list: unknown[] = Array.isArray(sent) ? sent : Object.values(sent);
  if (list.length === 0) throw refused('is empty');
  if (list.length > maxActions) throw refused(`are too many (maximum is ${maxActions})`);
  return list.map(readAction);
};

/** Requires that the files come in one way. @throws Failure 400 */
export const requireOneWay = (input: {
  files?: unknown;
  file_name?: unknown;
  content?: unknown;
  code?: unknown;
}): void => {
  const names = (['content', 'code', 'file_name'] as const).filter((name) => input[name] !== undefined);
  if (input.files !== undefined && input.files !== null && names.length > 0)
    throw badRequest(`files and ${names.join(', ')} are mutually exclusive`);
};
