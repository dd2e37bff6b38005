import type { Command } from 'commander';
import { parseDate } from '../time.ts';
import { createToken } from '../tokens/create.ts';
import { tokenScopes } from '../tokens/rules.ts';
import { type AdminOptions, adminAction, onStore, requireUser, userParts } from './admin_user.ts';
import { UsageFailure, print } from './command.ts';

/** Nobody known, and no address asked. */
const here = { cause: null, source: { ip: '', userAgent: 'gantry admin' } };

type Options = AdminOptions & { user: string; name: string; scopes: string; expiresAt?: string };

const readScopes = (text: string): string[] => {
  const scopes = text.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !tokenScopes.some((known) => known === scope));
  if (unknown !== undefined) {
    throw new UsageFailure(`--scopes has "${unknown}"; there are ${tokenScopes.join(', ')}`);
  }
  return scopes;
};

const readDay = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  const day = parseDate(text);
  if (day === null) throw new UsageFailure(`--expires-at must be a day, YYYY-MM-DD (it is "${text}")`);
  return day;
};

const create = async (options: Options): Promise<void> => {
  const { user, name } = options;
  const scopes = readScopes(options.scopes);
  const expires_at = readDay(options.expiresAt);
  await onStore(options, async (store) => {
    const user_id = await requireUser(store.db, user);
    const token = { user_id, kind: 'personal', name, scopes, expires_at } as const;
    const { id, text } = await createToken(userParts(store), here, token);
    print(options, { id, token: text, user, name, scopes, expires_at }, text);
  });
};

export const tokenCreateCommand = (): Command =>
  adminAction('create', {
    summary: 'Create a personal access token and print it; it is kept nowhere and not shown again.',
    examples: [
      'TOKEN=$(gantry admin token create --user root)',
      'gantry admin token create --user maria --name ci --scopes read_api --expires-at 2027-01-31',
    ],
  })
    .requiredOption('--user <username>', 'whose token it is')
    .option('--name <text>', 'what it is for', 'gantry admin')
    .option('--scopes <names>', `what it opens, separated by commas: ${tokenScopes.join(', ')}`, 'api')
    .option('--expires-at <date>', 'YYYY-MM-DD: the day at whose beginning it dies (without it: never)')
    .action(create);
