import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { createUser, randomPassword } from '../../../identity/users/create.ts';
import {
  type AdminOptions,
  adminAction,
  withOpenStore,
  readPasswordFromStdin,
  passwordOption,
  userParts,
} from './user.ts';
import { print } from '../print_result.ts';

type Options = AdminOptions & {
  email: string;
  name?: string;
  admin?: boolean;
  external?: boolean;
  passwordStdin?: boolean;
};

const create = async (username: string, options: Options): Promise<void> => {
  const inputPassword = options.passwordStdin === true ? await readPasswordFromStdin() : null;
  const password = inputPassword ?? randomPassword(randomBytes);
  const { email, name = username, admin = false, external = false } = options;
  const id = await withOpenStore(
    options,
    async (store) =>
      await createUser(userParts(store), null, { username, email, name, admin, external, password }),
  );
  const shown = inputPassword === null ? { password } : {};
  const lines = [
    `Created the user "${username}" (id ${id}).`,
    ...(inputPassword === null ? [`Password: ${password}`] : []),
  ];
  print(options, { id, username, email, name, admin, external, ...shown }, lines.join('\n'));
};

export const userCreateCommand = (): Command =>
  adminAction('create', {
    summary: 'Create a user; a generated password is printed once.',
    examples: [
      'gantry admin user create maria --email maria@example.com --name "Maria Silva"',
      'printf %s "$PASSWORD" | gantry admin user create ops --email ops@example.com --admin --password-stdin',
    ],
  })
    .argument('<username>', 'name in URLs and mentions')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--name <text>', 'full name (without it: the user name)')
    .option('--admin', 'make the user an administrator')
    .option('--external', 'make the user external: internal projects are visible to members only')
    .option(...passwordOption)
    .action(create);
