/** Shows whether the signature of a commit is verified. */
import type { Code } from '../../../../code/repository/find_code.ts';
import {
  type SignatureStatus,
  isSignedMessage,
  loadSignatureStatuses,
  loadTagSignatureStatuses,
} from '../../../../code/repository/signatures/signature_statuses.ts';
import type { Commit, Oid, Ref } from '../../../../platform/git/protocol_types.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';

export const signatureTexts = {
  verified: 'Signed by the committer',
  unverified: 'The signature does not match the committer',
  unverified_key: 'The key has no confirmed address of its owner',
  other_user: 'Signed with the key of another user',
  unknown_key: 'The key that signed the commit belongs to no user',
  revoked_key: 'The key was revoked',
  multiple_signatures: 'The commit has several signatures',
} as const satisfies Record<SignatureStatus, string>;

const tagTexts = {
  ...signatureTexts,
  verified: 'The tag is signed by the tagger',
  unverified: 'The signature does not match the tagger',
  unknown_key: 'The key that signed the tag belongs to no user',
  multiple_signatures: 'The tag has several signatures',
} as const satisfies Record<SignatureStatus, string>;

/** Renders the status as a badge. @param signed what is signed */
export const signatureBadge = (status: SignatureStatus, signed: 'commit' | 'tag' = 'commit'): Html => {
  const isVerified = status === 'verified';
  const texts = signed === 'tag' ? tagTexts : signatureTexts;
  return html`<span class="status ${isVerified ? 'ok' : 'off'}" title="${texts[status]}">${icon(
    isVerified ? 'check-circle' : 'key',
  )} ${isVerified ? 'Verified' : 'Unverified'}</span>`;
};

/** The statuses of the signed commits, or tags, of a list. */
export type Signatures = ReadonlyMap<Oid, SignatureStatus>;

export const loadSignatures = async (
  visit: Visit,
  code: Code,
  commits: readonly Commit[],
): Promise<Signatures> =>
  commits.some(({ signed }) => signed === true)
    ? await withAnonymousSlot(visit, async () => await loadSignatureStatuses(visit.call, code, commits))
    : new Map();

export const loadTagSignatures = async (
  visit: Visit,
  code: Code,
  tags: readonly Ref[],
): Promise<Signatures> =>
  tags.some(({ message }) => isSignedMessage(message))
    ? await withAnonymousSlot(visit, async () => await loadTagSignatureStatuses(visit.call, code, tags))
    : new Map();
