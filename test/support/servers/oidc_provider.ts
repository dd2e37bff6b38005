/** A real OpenID Connect provider on a free port that signs every visitor in as the person set by the test. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider } from 'oidc-provider';

export type Person = {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  preferred_username?: string;
};

export type TestProvider = {
  issuer: string;
  client_id: string;
  client_secret: string;
  /** The person who signs in next; null: consent is refused. */
  person: Person | null;
  /** Follows the browser from the service's link to the address it returns to. */
  signIn: (url: string) => Promise<string>;
  close: () => Promise<void>;
};

const scopes = {
  email: ['email', 'email_verified'],
  profile: ['name', 'preferred_username'],
};

const accept = async (
  provider: Provider,
  pair: Parameters<Provider['interactionDetails']>,
  person: Person,
): Promise<string> => {
  const { params } = await provider.interactionDetails(...pair);
  const grant = new provider.Grant({ accountId: person.sub, clientId: String(params['client_id']) });
  grant.addOIDCScope(String(params['scope']));
  return await provider.interactionResult(...pair, {
    login: { accountId: person.sub },
    consent: { grantId: await grant.save() },
  });
};

/** @param redirect_uris of the service under test */
export const startProvider = async (redirect_uris: string[]): Promise<TestProvider> => {
  // The library prints warnings for people who try it out.
  const { warn, info } = console;
  console.warn = console.info = () => undefined;
  const { Provider: RealProvider } = await import('oidc-provider');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [client_id, client_secret] = ['gantry', 'secret-of-the-provider'];
  const people = new Map<string, Person>();
  const provider = new RealProvider(issuer, {
    clients: [{ client_id, client_secret, redirect_uris, grant_types: ['authorization_code'] }],
    claims: { openid: ['sub'], ...scopes },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    pkce: { required: () => true },
    ttl: { Interaction: 60, Grant: 60, Session: 60, AccessToken: 60, IdToken: 60, AuthorizationCode: 60 },
    cookies: { keys: ['a key for the tests'] },
  });
  Object.assign(console, { warn, info });
  const made: TestProvider = {
    issuer,
    client_id,
    client_secret,
    person: null,
    signIn: async (url) => await follow(url, issuer),
    close: async () =>
      await new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) {
      void handle(request, response);
      return;
    }
    const { person } = made;
    const answer = async (): Promise<string> => {
      if (person === null) {
        return await provider.interactionResult(request, response, { error: 'access_denied' });
      }
      people.set(person.sub, person);
      return await accept(provider, [request, response], person);
    };
    void answer().then((location) => response.writeHead(303, { location }).end());
  });
  return made;
};

/** Follows redirects as a browser without cookies of the provider. */
const follow = async (start: string, issuer: string): Promise<string> => {
  const cookies = new Map<string, string>();
  let url = start;
  for (let step = 0; step < 10; step += 1) {
    if (!url.startsWith(issuer)) return url;
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`the provider answers ${response.status}: ${await response.text()}`);
    url = new URL(location, url).href;
  }
  throw new Error('the provider leads in a circle');
};
