/** What the programs of runners call on their own account: they sign in with a token of theirs, in the body. */
import { endpoint } from '../access/call.ts';
import { notGiven } from '../errors.ts';
import { hash, object, optional, text } from '../http/schema.ts';
import { authenticateRunner, runnerTokenOf } from './authenticate.ts';
import { deleteSelf, resetOwnToken } from './change.ts';
import { noteContact } from './contact.ts';
import { deleteManager } from './managers.ts';
import { factParams, factsGiven } from './params.ts';
import { registerRunner } from './registration.ts';
import { lasting, madeShape, tokenShape } from './json.ts';
import { checkServes } from './serves.ts';

const area = 'runners';
const audience = 'anyone';
const refusals = [403] as const;
const token = { token: optional(text({ description: "the runner's; or in the header `RUNNER-TOKEN`" })) };
const info = { info: optional(hash({}, 'what the program tells of itself')) };

const register = endpoint({
  method: 'POST',
  path: '/runners',
  summary: 'Register a runner, with a registration token',
  area,
  audience,
  refusals,
  params: object({
    token: text({ description: 'a registration token' }),
    ...factParams,
    maintainer_note: optional(text({ maxLength: 1024, description: '`maintenance_note`, of old' })),
    ...info,
  }),
  reply: madeShape,
  handle: async (call, { token: given, maintainer_note, info: _info, ...facts }) => {
    const maintenance_note = facts.maintenance_note ?? maintainer_note;
    const told = { ...facts, ...(maintenance_note !== undefined && { maintenance_note }) };
    return { ...(await registerRunner(call, given, factsGiven(told))), ...lasting };
  },
});

const verify = endpoint({
  method: 'POST',
  path: '/runners/verify',
  summary: "Whether a runner's token is good",
  area,
  audience,
  refusals,
  status: 200,
  params: object({ ...token, system_id: optional(text()), ...info }),
  reply: madeShape,
  handle: async (call, given) => {
    const runner = await authenticateRunner(call, given.token);
    await checkServes(call.db, runner);
    const { system_id, info: told } = given;
    noteContact(call.platform, runner, { system_id, info: told, ip: call.ip });
    return { id: runner.id, token: runnerTokenOf(call, given.token), ...lasting };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/runners',
  summary: 'Unregister: the runner is no more',
  area,
  audience,
  refusals,
  params: object(token),
  reply: null,
  handle: async (call, given) => await deleteSelf(call, runnerTokenOf(call, given.token)),
});

const removeManager = endpoint({
  method: 'DELETE',
  path: '/runners/managers',
  summary: 'Forget one of the machines that share a runner',
  area,
  audience,
  refusals,
  params: object({ ...token, system_id: optional(text()) }),
  reply: null,
  handle: async (call, { token: given, system_id }) => {
    if (system_id === undefined || system_id === '') throw notGiven('system_id');
    await deleteManager(call, await authenticateRunner(call, given), system_id);
  },
});

const reset = endpoint({
  method: 'POST',
  path: '/runners/reset_authentication_token',
  summary: 'Another token for the runner that asks: the one before is no longer good',
  area,
  audience,
  refusals,
  params: object(token),
  reply: tokenShape,
  handle: async (call, given) => ({
    token: await resetOwnToken(call, runnerTokenOf(call, given.token)),
    ...lasting,
  }),
});

export const runnerProgramRoutes = [register, verify, remove, removeManager, reset];
