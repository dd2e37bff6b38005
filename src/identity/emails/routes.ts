/** Secondary email addresses of users. */
import { type Call, requireUser } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  id,
  int,
  nullable,
  object,
  optional,
  string,
  text,
  timestamp,
} from '../../platform/http/schema.ts';
import { formatTimeOrNull } from '../../platform/time.ts';
import { loadUser } from '../users/queries.ts';
import { createEmail, removeEmail } from './change.ts';
import { type EmailRow, findEmail, listEmails } from './queries.ts';

const reply = object({ id: int, email: string, confirmed_at: nullable(timestamp) });

const emailJson = (row: EmailRow) => ({
  id: row.id,
  email: row.email,
  confirmed_at: formatTimeOrNull(row.confirmed_at),
});

const email = text({ maxLength: 1_000 });

/** The endpoints of the caller's addresses, or of any user's addresses for administrators. */
const sideOf = (whose: 'own' | 'any') => {
  const isOwn = whose === 'own';
  return {
    path: isOwn ? '/user/emails' : '/users/:id/emails',
    word: isOwn ? 'of the caller' : 'of a user',
    shared: { area: 'users', audience: isOwn ? 'user' : 'admin' } as const,
    params: isOwn ? {} : { id: id() },
    /** @throws Failure 404 for an unknown user */
    findUserId: async (call: Call, input: object): Promise<number> => {
      if (isOwn) return requireUser(call).id;
      return (await loadUser(call.db, (input as { id: number }).id)).id;
    },
  };
};

const emailSide = (whose: 'own' | 'any') => {
  const { path, word, shared, params, findUserId } = sideOf(whose);
  const emailPath = `${path}/:email_id`;
  const scopes = whose === 'own' ? { scopes: ['read_user'] } : {};
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List secondary email addresses ${word}`,
      ...shared,
      ...scopes,
      list: true,
      params: object({ ...params, ...pageParams }),
      reply,
      handle: async (call, params) => {
        const page = await listEmails(call.db, await findUserId(call, params), pageRequest(params));
        return { ...page, items: page.items.map(emailJson) };
      },
    }),
    endpoint({
      method: 'GET',
      path: emailPath,
      summary: `Get a secondary email address ${word}`,
      ...shared,
      ...scopes,
      params: object({ ...params, email_id: id() }),
      reply,
      handle: async (call, params) =>
        emailJson(await findEmail(call.db, await findUserId(call, params), params.email_id)),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Add a secondary email address ${word} and send a confirmation`,
      ...shared,
      params: object({
        ...params,
        email,
        ...(whose === 'any' && { skip_confirmation: optional(boolean()) }),
      }),
      reply,
      handle: async (call, params) => {
        const { skip_confirmation: isConfirmed = false } = params as { skip_confirmation?: boolean };
        const userId = await findUserId(call, params);
        return emailJson(await createEmail(call, userId, { email: params.email, isConfirmed }));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: emailPath,
      summary: `Delete a further address ${word}`,
      ...shared,
      params: object({ ...params, email_id: id() }),
      reply: null,
      handle: async (call, params) =>
        await removeEmail(call, await findUserId(call, params), params.email_id),
    }),
  ];
};

export const emailRoutes = [...emailSide('own'), ...emailSide('any')];
