/**
 * Quick actions: lines such as `/label ~bug` in a description or a comment, which change the record and are not part of
 * the text. A line counts if it starts with a slash and a known word, outside of fenced blocks and `>>>` quotations.
 * Pure: the caller resolves the names in arguments.
 */
import { type ActionName, findActionName } from './quick_action_words.ts';

export type QuickAction = { name: ActionName; argument: string };

const command = /^\/([a-z_]{1,30})(?:[ \t]+(\S.*)?)?$/i;
const fence = /^ {0,3}(`{3,}|~{3,})/;

const parseAction = (line: string): QuickAction | null => {
  const [, word = '', argument = ''] = command.exec(line) ?? [];
  const name = findActionName(word.toLowerCase());
  return name === undefined ? null : { name, argument: argument.trim() };
};

/** Returns whether the block started by `open` (a run of fence marks, or `>>>`) ends on this line. */
const endsBlock = (open: string, line: string): boolean => {
  if (open === '>>>') return line === '>>>';
  const marks = fence.exec(line)?.[1] ?? '';
  return marks.startsWith(open) && line.trim() === marks;
};

const blockBegun = (line: string): string | null => (line === '>>>' ? line : (fence.exec(line)?.[1] ?? null));

/** Returns the actions of a text in order, and the text without them. */
export const extractQuickActions = (text: string): { text: string; actions: QuickAction[] } => {
  if (!text.includes('/')) return { text, actions: [] };
  const actions: QuickAction[] = [];
  const kept: string[] = [];
  let block: string | null = null;
  for (const whole of text.split('\n')) {
    const line = whole.trimEnd();
    const action = block === null ? parseAction(line) : null;
    if (action === null) kept.push(whole);
    else actions.push(action);
    if (block === null) block = blockBegun(line);
    else if (endsBlock(block, line)) block = null;
  }
  return actions.length === 0 ? { text, actions } : { text: kept.join('\n').trim(), actions };
};

/** `~bug ~"two words" ~12 plain`: titles, and as numbers the ids that `~12` names. */
export const labelsNamed = (argument: string): (string | number)[] =>
  [...argument.matchAll(/(~?)(?:"([^"]+)"|([^\s,"]+))/g)].map(([, tilde, quoted, word = '']) => {
    if (quoted !== undefined) return quoted;
    return tilde === '~' && /^\d{1,15}$/.test(word) ? Number(word) : word;
  });

/** `@a @b`, with or without the `@`; `me` stays. */
export const usersNamed = (argument: string): string[] =>
  [...argument.matchAll(/@?([\w.-]+)/g)].map(([, name = '']) => name);

/** `%1` is an iid; `%v1`, `%"version 1"` and `version 1` are titles. */
export const milestoneNamed = (argument: string): string | number => {
  const [, percent, quoted, word = ''] = /^(%?)(?:"([^"]+)"|(.*))$/.exec(argument) ?? [];
  if (quoted !== undefined) return quoted;
  return percent === '%' && /^\d{1,15}$/.test(word) ? Number(word) : word;
};
