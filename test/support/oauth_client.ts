/** A client of the OAuth endpoints, for tests. */
import { hash, randomBytes } from 'node:crypto';
import { type Reply, type TestService } from './service.ts';

export const callback = 'https://app.example.com/callback';

export type TestApplication = { id: number; client_id: string; client_secret: string };

/** Registers an instance application. */
export const makeApplication = async (
  gantry: TestService,
  attributes: { redirect_uri?: string; scopes?: string; confidential?: boolean; trusted?: boolean } = {},
): Promise<TestApplication> => {
  const { body } = await gantry.api('POST /applications', {
    json: { name: 'Robot', redirect_uri: callback, scopes: 'api read_user', ...attributes },
  });
  return { id: body.id, client_id: body.application_id, client_secret: body.secret };
};

export type Form = { [name: string]: string };

/** Posts a form to `/oauth/token`, `/oauth/revoke` and the like. */
export const postForm = async (
  gantry: TestService,
  path: string,
  form: Form | string,
  headers: Record<string, string> = {},
): Promise<Reply> => {
  const response = await fetch(`${gantry.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : undefined,
    text,
  };
};

export const basic = ({ client_id, client_secret }: TestApplication): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
});

/** Creates a PKCE verifier and its challenge. */
export const makePkce = (): { verifier: string; challenge: string } => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: hash('sha256', verifier, 'base64url') };
};
