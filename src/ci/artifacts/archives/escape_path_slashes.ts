const prefix = String.raw`\/api\/v4\/projects\/[^/]+\/jobs`;
/** Matches any job id but `artifacts`, which a ref follows. */
const inArchive = new RegExp(`^(${prefix}\\/(?!artifacts\\/)[^/]+\\/artifacts\\/)(.+)$`);
const ofRef = new RegExp(`^(${prefix}\\/artifacts\\/)(.+)\\/download$`);
const inArchiveOfRef = new RegExp(`^(${prefix}\\/artifacts\\/)(.+?)\\/raw\\/(.+)$`);

const inOne = (text: string): string => text.replaceAll('/', '%2F');

/**
 * Escapes the slashes in refs and in paths within archives, so that each fills one parameter of the route. Returns any
 * other path unchanged.
 */
export const escapeArtifactPath = (path: string): string => {
  if (!path.includes('/artifacts/') || !path.startsWith('/api/v4/projects/')) return path;
  const [, head, inside] = inArchive.exec(path) ?? [];
  if (head !== undefined && inside !== undefined) return head + inOne(inside);
  const [, start, of, file] = inArchiveOfRef.exec(path) ?? [];
  if (start !== undefined && of !== undefined && file !== undefined) {
    return `${start}${inOne(of)}/raw/${inOne(file)}`;
  }
  const [, begin, ref] = ofRef.exec(path) ?? [];
  return begin !== undefined && ref !== undefined ? `${begin}${inOne(ref)}/download` : path;
};
