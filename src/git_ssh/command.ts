/** What a client asks to be run, as git's own clients write it: pure. */
import type { GitService } from '../repository/transfer.ts';

export type GitCommand = {
  service: GitService;
  /** Full path of the project. */
  path: string;
};

const pattern = /^git[ -](upload-pack|receive-pack) +(\S.*)$/s;
const quoted = /^(?:'[^']*'|\\['!])+$/;

/** Undoes the quoting of git, and of hands: `'it'\''s'`; null: quoted in another way. */
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

/** null: nothing that is done here. */
export const gitCommandOf = (command: string): GitCommand | null => {
  const [, verb, argument = ''] = pattern.exec(command.trim()) ?? [];
  const path = unquoted(argument)
    ?.replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  if (verb === undefined || path === undefined || path === '' || path.includes('\0')) return null;
  return { service: verb === 'upload-pack' ? 'git-upload-pack' : 'git-receive-pack', path };
};
