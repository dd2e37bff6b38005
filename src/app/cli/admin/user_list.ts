import type { Command } from 'commander';
import type { Reader } from '../../../platform/db/open.ts';
import { formatTime } from '../../../platform/time.ts';
import { selectUsers } from '../../../identity/users/list.ts';
import type { UserRow } from '../../../identity/users/queries.ts';
import { type AdminOptions, adminAction, withOpenStore } from './user.ts';
import { columns, print } from '../print_result.ts';

type Options = AdminOptions & { search?: string; blocked?: boolean };

const chunk = 1000;

type Filter = Pick<Options, 'search' | 'blocked'>;

const listAllUsers = async (db: Reader, filter: Filter): Promise<UserRow[]> => {
  const users: UserRow[] = [];
  for (;;) {
    const { rows, total } = await selectUsers(
      db,
      { ...filter, order_by: 'id', sort: 'asc' },
      { limit: chunk, offset: users.length, admin: true },
    );
    users.push(...rows);
    if (rows.length < chunk || users.length >= total) return users;
  }
};

const toJson = (user: UserRow): object => ({
  id: user.id,
  username: user.username,
  name: user.name,
  email: user.email,
  state: user.state,
  admin: user.admin === 1,
  external: user.external === 1,
  created_at: formatTime(user.created_at),
});

const describeKind = ({ admin, external }: UserRow): string => {
  if (admin === 1) return 'admin';
  return external === 1 ? 'external' : 'user';
};

const toCells = (user: UserRow): string[] => [
  String(user.id),
  user.username,
  user.state,
  describeKind(user),
  user.email,
  user.name,
];

const list = async (options: Options): Promise<void> => {
  const { search, blocked } = options;
  const filter = { ...(search !== undefined && { search }), ...(blocked !== undefined && { blocked }) };
  const users = await withOpenStore(options, async (store) => await listAllUsers(store.db, filter));
  const table = columns([['id', 'username', 'state', 'kind', 'email', 'name'], ...users.map(toCells)]);
  print(options, users.map(toJson), table);
};

export const userListCommand = (): Command =>
  adminAction('list', {
    summary: 'List all users, sorted by id.',
    examples: ['gantry admin user list --search silva', 'gantry admin user list --blocked --json'],
  })
    .option('--search <text>', 'part of the name or user name, or a complete e-mail address')
    .option('--blocked', 'only blocked users')
    .action(list);
