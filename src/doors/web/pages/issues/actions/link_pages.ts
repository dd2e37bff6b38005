/** Forms that link an issue with another, and remove the link. */
import type { Call } from '../../../../../core/access/call.ts';
import { type LoadedIssue, findIssue } from '../../../../../planning/issues/find.ts';
import { linkTypes } from '../../../../../planning/issues/links/link_types.ts';
import { createLink, findLink, mayLink, removeLink } from '../../../../../planning/issues/links/links.ts';
import { Failure, forbidden, invalid } from '../../../../../platform/errors.ts';
import { id, object, oneOf, text } from '../../../../../platform/http/schema.ts';
import { page } from '../../../page.ts';
import { submitForm } from '../../issuables/submit_form.ts';
import { oneIssue, issuesRoutePath } from '../paths.ts';
import { issueKind } from '../issue_kind.ts';

type Reference = { project: string | number; iid: number };

/** Reads `#3`, `3`, `group/project#3`, or the address of an issue; null for anything else. */
const readReference = ({ baseUrl }: Call, { project }: LoadedIssue, typed: string): Reference | null => {
  const trimmed = typed.trim();
  const path = trimmed.startsWith(`${baseUrl}/`) ? trimmed.slice(baseUrl.length + 1) : trimmed;
  const [, address, addressIid] = /^([\w./-]+?)(?:\/-)?\/issues\/(\d{1,9})(?:[?#].*)?$/.exec(path) ?? [];
  if (address !== undefined) return { project: address, iid: Number(addressIid) };
  const [, named = '', iid] = /^([\w./-]*?)#?(\d{1,9})$/.exec(trimmed) ?? [];
  if (iid === undefined) return null;
  return { project: named === '' ? project.id : named, iid: Number(iid) };
};

/** @throws Failure 400 for an issue that the caller does not see */
const findNamed = async (call: Call, loaded: LoadedIssue, typed: string): Promise<LoadedIssue> => {
  const missing = invalid({ issue: ['does not exist'] });
  const reference = readReference(call, loaded, typed);
  if (reference === null) throw missing;
  try {
    return await findIssue(call, reference.project, reference.iid);
  } catch (error) {
    throw error instanceof Failure && error.kind === 'not_found' ? missing : error;
  }
};

export const linkPages = [
  page({
    method: 'POST',
    path: `${issuesRoutePath}/:iid/links`,
    audience: 'user',
    params: object({ ...oneIssue, reference: text(), relation: oneOf(linkTypes) }),
    handle: async (visit, { project, iid, reference, relation }) => {
      const { call } = visit;
      const loaded = await findIssue(call, project, iid);
      if (!mayLink(call, loaded)) throw forbidden();
      return await submitForm(
        { kind: issueKind, visit, loaded },
        async () => await createLink(call, loaded, await findNamed(call, loaded, reference), relation),
      );
    },
  }),
  page({
    method: 'POST',
    path: `${issuesRoutePath}/:iid/links/:link/delete`,
    audience: 'user',
    params: object({ ...oneIssue, link: id() }),
    handle: async (visit, { project, iid, link }) => {
      const { call } = visit;
      const loaded = await findIssue(call, project, iid);
      const found = await findLink(call, loaded.target.id, link);
      return await submitForm(
        { kind: issueKind, visit, loaded },
        async () => await removeLink(call, loaded, found),
      );
    },
  }),
];
