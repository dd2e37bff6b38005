import type { Settings } from '../../core/settings/fields.ts';
import { tokenScopes } from '../tokens/rules.ts';

/** Returns the server metadata (RFC 8414). */
export const metadata = (issuer: string, settings: Settings) => {
  const methods = ['client_secret_basic', 'client_secret_post', 'none'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    scopes_supported: tokenScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [
      'authorization_code',
      'refresh_token',
      ...(settings.password_authentication_enabled ? ['password'] : []),
    ],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods.slice(0, 2),
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
};
