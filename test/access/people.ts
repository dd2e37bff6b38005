/** The people of expected.txt, each with their credential, and a few others. */
import { randomBytes } from 'node:crypto';
import { generateTokenText } from '../../src/core/access/credentials/token_text.ts';
import { insertToken } from '../../src/identity/tokens/create.ts';
import { seedUser } from '../support/seed.ts';
import { type TestService, rootToken } from '../support/service.ts';
import { peopleNames } from './expected.ts';

export type Person = {
  name: string;
  /** null: anonymous. */
  user_id: number | null;
  headers: Record<string, string>;
};

/** By the name in expected.txt. `writer` wrote the records of others; `newcomer` has no role anywhere. */
export type People = {
  all: Map<string, Person>;
  /** User id of a person with an account. */
  idOf: (name: string) => number;
  writer: number;
  newcomer: number;
};

const withToken = (token: string) => ({ 'private-token': token });

/** Creates one more token of a user; returns its text. */
export const moreToken = async (
  gantry: TestService,
  user_id: number,
  token: {
    scopes?: string[];
    expires_at?: string | null;
    revoked?: boolean;
    kind?: 'personal' | 'oauth';
  } = {},
): Promise<string> => {
  const { scopes = ['api'], expires_at = null, revoked = false, kind = 'personal' } = token;
  const text = generateTokenText(randomBytes);
  await gantry.service.platform.store.write(async (tx) => {
    const id = await insertToken(tx, null, { user_id, kind, name: 'more', scopes, expires_at }, text);
    if (revoked) await tx.db.updateTable('tokens').set({ revoked: 1 }).where('id', '=', id).execute();
  });
  return text;
};

const accounts: [name: string, seed: Parameters<typeof seedUser>[1]][] = [
  ['external', { external: 1 }],
  ['non-member', {}],
  ['author', {}],
  ['assignee', {}],
  ['guest', {}],
  ['guest and author', {}],
  ['guest and assignee', {}],
  ['reporter', {}],
  ['developer', {}],
  ['master', {}],
  ['owner', {}],
  ['admin', { admin: 1 }],
  ['external reporter', { external: 1 }],
  ['former master', {}],
  ['member of a project below', {}],
  ['blocked owner', { state: 'blocked' }],
];

const credentialsOfOwner = async (gantry: TestService, id: number): Promise<[string, string][]> => [
  ['owner, read_api', await moreToken(gantry, id, { scopes: ['read_api'] })],
  ['owner, read_user', await moreToken(gantry, id, { scopes: ['read_user'] })],
  ['owner, invalid token', generateTokenText(randomBytes)],
  ['owner, revoked token', await moreToken(gantry, id, { revoked: true })],
  ['owner, expired token', await moreToken(gantry, id, { expires_at: '2017-01-01' })],
];

export const makePeople = async (gantry: TestService): Promise<People> => {
  const all = new Map<string, Person>([['anonymous', { name: 'anonymous', user_id: null, headers: {} }]]);
  const add = (name: string, user_id: number, headers: Record<string, string>): void =>
    void all.set(name, { name, user_id, headers });
  for (const [name, seed] of accounts) {
    const { id, token } = await seedUser(gantry, seed);
    add(name, id, withToken(token));
  }
  const idOf = (name: string): number => all.get(name)?.user_id ?? 0;
  for (const [name, token] of await credentialsOfOwner(gantry, idOf('owner'))) {
    add(name, idOf('owner'), withToken(token));
  }
  const actedAs = await seedUser(gantry);
  add('admin as non-member', actedAs.id, { ...withToken(rootToken), sudo: actedAs.username });
  const unknown = peopleNames.filter((name) => !all.has(name));
  if (unknown.length > 0)
    throw new Error(`expected.txt names people whom nobody made: ${unknown.join(', ')}`);
  return { all, idOf, writer: (await seedUser(gantry)).id, newcomer: (await seedUser(gantry)).id };
};
