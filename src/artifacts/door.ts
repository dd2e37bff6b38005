const prefix = String.raw`\/api\/v4\/projects\/[^/]+\/jobs`;
/** Whatever stands for a job's id, but for the word that a ref follows. */
const inArchive = new RegExp(`^(${prefix}\\/(?!artifacts\\/)[^/]+\\/artifacts\\/)(.+)$`);
const ofRef = new RegExp(`^(${prefix}\\/artifacts\\/)(.+)\\/download$`);
const inArchiveOfRef = new RegExp(`^(${prefix}\\/artifacts\\/)(.+?)\\/raw\\/(.+)$`);

const inOne = (text: string): string => text.replaceAll('/', '%2F');

/**
 * Refs and paths within archives may be sent with their slashes as they are: they become the one parameter that is
 * served. Any other path stays as it is.
 */
export const artifactPath = (path: string): string => {
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
