import type { Command } from 'commander';
import type { Reader } from '../db/open.ts';
import { formatTime } from '../time.ts';
import { selectUsers } from '../users/list.ts';
import type { UserRow } from '../users/queries.ts';
import { type AdminOptions, adminAction, onStore } from './admin_user.ts';
import { columns, print } from './command.ts';

type Options = AdminOptions & { search?: string; blocked?: boolean };

const chunk = 1000;

type Filter = Pick<Options, 'search' | 'blocked'>;

const allUsers = async (db: Reader, filter: Filter): Promise<UserRow[]> => {
  const users: UserRow[] = [];
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- the next page begins where this one ends
    const { rows, total } = await selectUsers(
      db,
      { ...filter, order_by: 'id', sort: 'asc' },
      { limit: chunk, offset: users.length, admin: true },
    );
    users.push(...rows);
    if (rows.length < chunk || users.length >= total) return users;
  }
};

const jsonOf = (user: UserRow): object => ({
  id: user.id,
  username: user.username,
  name: user.name,
  email: user.email,
  state: user.state,
  admin: user.admin === 1,
  external: user.external === 1,
  created_at: formatTime(user.created_at),
});

const kindOf = ({ admin, external }: UserRow): string => {
  if (admin === 1) return 'admin';
  return external === 1 ? 'external' : 'user';
};

const cellsOf = (user: UserRow): string[] => [
  String(user.id),
  user.username,
  user.state,
  kindOf(user),
  user.email,
  user.name,
];

const list = async (options: Options): Promise<void> => {
  const { search, blocked } = options;
  const filter = { ...(search !== undefined && { search }), ...(blocked !== undefined && { blocked }) };
  const users = await onStore(options, async (store) => await allUsers(store.db, filter));
  const table = columns([['id', 'username', 'state', 'kind', 'email', 'name'], ...users.map(cellsOf)]);
  print(options, users.map(jsonOf), table);
};

export const userListCommand = (): Command =>
  adminAction('list', {
    summary: 'List all users in order of id.',
    examples: ['gantry admin user list --search silva', 'gantry admin user list --blocked --json'],
  })
    .option('--search <text>', 'part of the name or user name, or a whole address')
    .option('--blocked', 'only blocked ones')
    .action(list);
