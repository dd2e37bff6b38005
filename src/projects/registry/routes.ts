/** The token service of a container registry (Docker's token authentication specification). */
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { int, object, optional, string, text, texts, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { grantedAccess } from './access.ts';
import { signJwt } from './jwt.ts';
import { signInPuller } from './sign_in.ts';

/** Issuer of the tokens. */
const issuer = 'gantry-issuer';
/** Default name of the registry. */
const usualService = 'container_registry';
/** Seconds that the clock of the registry may be behind. */
const leeway = 5;

const scope = {
  ...texts({ description: '`repository:group/project:pull,push`, may be repeated' }),
  items: { type: 'string', maxLength: 2_000 },
};

export const registryAuth = endpoint({
  method: 'GET',
  path: '/jwt/auth',
  summary: 'Get a token for the container registry',
  area: 'registry',
  // Credentials are read here, so that errors have the registry's format.
  audience: 'anyone',
  params: object({
    service: text(),
    scope: optional(scope),
    account: optional(text()),
    client_id: optional(text()),
  }),
  reply: object({ token: string, access_token: string, expires_in: int, issued_at: timestamp }),
  handle: async (call, params) => {
    const { platform, settings, now } = call;
    const { config, secrets, random } = platform;
    if (params.service !== (config.registry ?? usualService)) throw notFound();
    const puller = await signInPuller(call);
    const issued = Math.floor(now / 1_000);
    const expires_in = settings.container_registry_token_expire_delay * 60;
    const claims = {
      iss: issuer,
      sub: puller.username ?? '',
      aud: params.service,
      exp: issued + expires_in,
      nbf: issued - leeway,
      iat: issued,
      jti: random(16).toString('hex'),
      access: await grantedAccess(call, puller, params.scope ?? []),
    };
    const token = signJwt(claims, secrets.registry_key);
    const answer = { token, access_token: token, expires_in, issued_at: formatTime(issued * 1_000) };
    return new Answer(answer, { headers: { 'cache-control': 'private, no-store' } });
  },
});
