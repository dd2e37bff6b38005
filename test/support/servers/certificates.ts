/** Certificates for tests, made by openssl. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Whether openssl is there to make them. */
export const canMakeCertificates = spawnSync('openssl', ['version']).status === 0;

/** Paths of a certificate and its private key, PEM both. */
export type CertificateFiles = { certificate: string; key: string };

const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });

const pathsIn = (folder: string, name: string): CertificateFiles => ({
  certificate: join(folder, `${name}.crt`),
  key: join(folder, `${name}.key`),
});

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

/** Makes a certificate authority. */
export const makeAuthority = (folder: string, name: string): CertificateFiles => {
  const { certificate, key } = pathsIn(folder, name);
  openssl('req', '-x509', ...newKey, '-subj', `/CN=${name}`, '-keyout', key, '-out', certificate);
  return { certificate, key };
};

/**
 * Makes a certificate that an authority signs, in place of an earlier one of that name.
 * @param subject `IP:127.0.0.1` or `DNS:name`
 */
export const makeCertificate = (
  folder: string,
  name: string,
  { authority, subject }: { authority: CertificateFiles; subject: string },
): CertificateFiles => {
  const { certificate, key } = pathsIn(folder, name);
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${subject}`];
  const signer = ['-CA', authority.certificate, '-CAkey', authority.key];
  openssl('req', '-x509', ...newKey, ...names, ...signer, '-keyout', key, '-out', certificate);
  return { certificate, key };
};
