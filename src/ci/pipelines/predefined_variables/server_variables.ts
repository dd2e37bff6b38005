/** Builds the `CI_SERVER_` variables. Pure. */

const getPort = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80');

/** @param baseUrl URL under which clients reach the service */
export const toServerVariables = (baseUrl: string, version: string): Record<string, string> => {
  const url = URL.parse(baseUrl);
  const [major = '0', minor = '0', patch = '0'] = version.split('.');
  return {
    CI_SERVER: 'yes',
    CI_SERVER_NAME: 'Gantry',
    CI_SERVER_VERSION: version,
    CI_SERVER_VERSION_MAJOR: major,
    CI_SERVER_VERSION_MINOR: minor,
    CI_SERVER_VERSION_PATCH: patch.replace(/\D.*$/, ''),
    ...(url !== null && {
      CI_SERVER_URL: baseUrl,
      CI_SERVER_HOST: url.hostname,
      CI_SERVER_PORT: getPort(url),
      CI_SERVER_PROTOCOL: url.protocol.replace(':', ''),
      CI_SERVER_FQDN: url.host,
      CI_API_V4_URL: `${baseUrl}/api/v4`,
    }),
  };
};
