/** Endpoints that runner programs call, authenticated by a token in the body. */
import { endpoint } from '../../core/access/endpoint.ts';
import { missingAttribute } from '../../platform/errors.ts';
import { hash, object, optional, text } from '../../platform/http/schema.ts';
import { authenticateRunner, readRunnerToken } from './registration/authenticate.ts';
import { deleteSelf, resetOwnToken } from './update_and_delete.ts';
import { recordContact } from './record_contact.ts';
import { deleteManager } from './managers.ts';
import { factParams, readFacts } from './params.ts';
import { registerRunner } from './registration/registration_tokens.ts';
import { noExpiry, createdShape, tokenShape } from './json.ts';
import { refuseOrphanedRunner } from './refuse_orphaned_runner.ts';

const area = 'runners';
const audience = 'anyone';
const refusals = [403] as const;
const token = {
  token: optional(text({ description: 'token of the runner; alternatively the header `RUNNER-TOKEN`' })),
};
const info = { info: optional(hash({}, 'information about the runner program')) };

const register = endpoint({
  method: 'POST',
  path: '/runners',
  summary: 'Register a runner with a registration token',
  area,
  audience,
  refusals,
  params: object({
    token: text({ description: 'a registration token' }),
    ...factParams,
    maintainer_note: optional(text({ maxLength: 1024, description: 'deprecated: `maintenance_note`' })),
    ...info,
  }),
  reply: createdShape,
  handle: async (call, { token: params, maintainer_note, info: _info, ...facts }) => {
    const maintenance_note = facts.maintenance_note ?? maintainer_note;
    const info = { ...facts, ...(maintenance_note !== undefined && { maintenance_note }) };
    return { ...(await registerRunner(call, params, readFacts(info))), ...noExpiry };
  },
});

const verify = endpoint({
  method: 'POST',
  path: '/runners/verify',
  summary: "Verify a runner's token",
  area,
  audience,
  refusals,
  status: 200,
  params: object({ ...token, system_id: optional(text()), ...info }),
  reply: createdShape,
  handle: async (call, params) => {
    const runner = await authenticateRunner(call, params.token);
    await refuseOrphanedRunner(call.db, runner);
    const { system_id, info: runnerInfo } = params;
    recordContact(call.platform, runner, { system_id, info: runnerInfo, ip: call.ip });
    return { id: runner.id, token: readRunnerToken(call, params.token), ...noExpiry };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/runners',
  summary: 'Delete the authenticated runner',
  area,
  audience,
  refusals,
  params: object(token),
  reply: null,
  handle: async (call, params) => await deleteSelf(call, readRunnerToken(call, params.token)),
});

const removeManager = endpoint({
  method: 'DELETE',
  path: '/runners/managers',
  summary: 'Delete one of the machines that share a runner',
  area,
  audience,
  refusals,
  params: object({ ...token, system_id: optional(text()) }),
  reply: null,
  handle: async (call, { token: params, system_id }) => {
    if (system_id === undefined || system_id === '') throw missingAttribute('system_id');
    await deleteManager(call, await authenticateRunner(call, params), system_id);
  },
});

const reset = endpoint({
  method: 'POST',
  path: '/runners/reset_authentication_token',
  summary: 'Reset the token of the authenticated runner',
  area,
  audience,
  refusals,
  params: object(token),
  reply: tokenShape,
  handle: async (call, params) => ({
    token: await resetOwnToken(call, readRunnerToken(call, params.token)),
    ...noExpiry,
  }),
});

export const runnerProgramRoutes = [register, verify, remove, removeManager, reset];
