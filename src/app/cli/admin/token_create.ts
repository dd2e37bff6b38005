import type { Command } from 'commander';
import { parseDate } from '../../../platform/time.ts';
import { createToken } from '../../../identity/tokens/create.ts';
import { tokenScopes } from '../../../identity/tokens/rules.ts';
import { type AdminOptions, adminAction, withOpenStore, requireUser, userParts } from './user.ts';
import { UsageFailure } from '../command_builders.ts';
import { print } from '../print_result.ts';

/** The source recorded in the audit log: no user and no address. */
const origin = { cause: null, source: { ip: '', userAgent: 'gantry admin' } };

type Options = AdminOptions & { user: string; name: string; scopes: string; expiresAt?: string };

const readScopes = (text: string): string[] => {
  const scopes = text.split(',').map((scope) => scope.trim());
  const unknownScope = scopes.find((scope) => !tokenScopes.some((existing) => existing === scope));
  if (unknownScope !== undefined) {
    throw new UsageFailure(`--scopes has "${unknownScope}"; there are ${tokenScopes.join(', ')}`);
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
  await withOpenStore(options, async (store) => {
    const user_id = await requireUser(store.db, user);
    const token = { user_id, kind: 'personal', name, scopes, expires_at } as const;
    const { id, text } = await createToken(userParts(store), origin, token);
    print(options, { id, token: text, user, name, scopes, expires_at }, text);
  });
};

export const tokenCreateCommand = (): Command =>
  adminAction('create', {
    summary: 'Create a personal access token and print it once; only its hash is stored.',
    examples: [
      'TOKEN=$(gantry admin token create --user root)',
      'gantry admin token create --user maria --name ci --scopes read_api --expires-at 2027-01-31',
    ],
  })
    .requiredOption('--user <username>', 'owner of the token')
    .option('--name <text>', 'name of the token', 'gantry admin')
    .option('--scopes <names>', `scopes, separated by commas: ${tokenScopes.join(', ')}`, 'api')
    .option('--expires-at <date>', 'day on which the token expires, YYYY-MM-DD (without it: never)')
    .action(create);
