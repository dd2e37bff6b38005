/** Parses the command of an SSH client. Pure. */
import type { GitService } from '../../code/repository/refs/transfer_access.ts';
import { trimSlashes } from '../../platform/trim.ts';

export type GitCommand = {
  service: GitService;
  /** Full path of the project. */
  path: string;
};

const pattern = /^git[ -](upload-pack|receive-pack) +(\S.*)$/s;
const quoted = /^(?:'[^']*'|\\['!])+$/;

/** Removes shell quotes, as git writes them: `'it'\''s'`; null for any other quoting. */
const unquoted = (text: string): string | null => {
  if (!/['"\\\s]/.test(text)) return text;
  if (!quoted.test(text)) return null;
  return text.replaceAll(
    /'([^']*)'|\\(['!])/g,
    (_all, inner: string | undefined, one: string | undefined) => {
      return inner ?? one ?? '';
    },
  );
};

/** Returns null for any other command. */
export const parseGitCommand = (command: string): GitCommand | null => {
  const [, verb, argument = ''] = pattern.exec(command.trim()) ?? [];
  const address = unquoted(argument);
  if (verb === undefined || address === null) return null;
  const path = trimSlashes(address).replace(/\.git$/, '');
  if (path === '' || path.includes('\0')) return null;
  return { service: verb === 'upload-pack' ? 'git-upload-pack' : 'git-receive-pack', path };
};
