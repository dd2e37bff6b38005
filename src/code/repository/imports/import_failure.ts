/** Why an import failed, in sentences that its user reads. They never contain text of the other server. */
import { AddressRefusal } from '../../../platform/addresses/checked_request.ts';

/** The import cannot succeed as it was asked for: it is not retried. The message is a sentence. */
export class ImportFailure extends Error {}

export const noRepositoryText = 'No git repository found at this address.';
export const cutOffText = 'The server stopped in the middle of its answer.';
export const malformedText = 'The answer of the server is not one of git.';

const connectionTexts: { [code: string]: string } = {
  ENOTFOUND: 'The name of the host is unknown.',
  EAI_AGAIN: 'The name of the host could not be resolved.',
  ECONNREFUSED: 'The server refuses connections.',
  ECONNRESET: 'The server closed the connection.',
  ETIMEDOUT: 'The server does not answer.',
  EHOSTUNREACH: 'The server cannot be reached.',
  ENETUNREACH: 'The server cannot be reached.',
};

/** Codes of certificates that are not trusted, expired, or of another host. */
const isCertificateCode = (code: string): boolean =>
  /^(?:CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code);

const describeRequestError = (error: unknown): string => {
  if (error instanceof AddressRefusal)
    return 'The address is in the local network, which the settings do not allow.';
  // If all of several addresses failed, the last error represents the others.
  const { code = '', errors } = error as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  const connectionText = connectionTexts[errors?.at(-1)?.code ?? code];
  if (connectionText !== undefined) return connectionText;
  return isCertificateCode(code)
    ? `The certificate of the server is not accepted (${code}).`
    : 'The connection to the server failed.';
};

/** Converts the error of a request or of its response. */
export const toImportFailure = (error: unknown): ImportFailure =>
  error instanceof ImportFailure ? error : new ImportFailure(describeRequestError(error));

/** Describes a response that is not 200. @param withCredentials the request had a user name and password */
export const describeStatus = (status: number, withCredentials: boolean): string => {
  if (status === 401 && !withCredentials) return 'The repository asks for a user name and a password.';
  if (status === 401) return 'The server refuses the user name and password.';
  if (status === 403) return 'The server refuses access to the repository.';
  if (status === 404 || status === 410) return noRepositoryText;
  return `The server answered with the status ${status}.`;
};
