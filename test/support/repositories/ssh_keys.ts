import { randomBytes } from 'node:crypto';

export type SampleKey = {
  text: string;
  family: 'rsa' | 'dsa' | 'ecdsa' | 'ed25519';
  bits: number;
  sha256: string;
  md5: string;
};

/** Public keys without a known private key, with what ssh-keygen prints for them. */
export const sampleKeys = {
  rsa1024: {
    text: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDAi+7NIaY9sxFXqOwUItd6UNEo9ofHpd4/HV0SbuMkgx+GqbaL9IchiLYEhJ7LwIedIM7iSN6lcT/bfAcI/xQ9RjqS6bcsgqmHD3VdQpLSMHyRC0emCuHtggG7RrkukU+1wlhzcjmgNnNVivAPjqtJBHiQS525X1PL6Sfg3Lds6Q== me@example.com',
    family: 'rsa',
    bits: 1024,
    sha256: 'GpccTU7rJNxMMWc65TzS/2qc+YFa+SWXt0VYhM1c/x0',
    md5: '43:e8:1d:4d:2b:49:61:40:18:1d:4f:5e:87:e3:c8:f7',
  },
  rsa2048: {
    text: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDJJmKmmfZlq1QPpQ2n5JuMpJnQwTA6hZuiCsPAmdRH9b5/cUcWrwOt3gMTVR6SKAM84SrgkbMwAfP7AyyWOxLsIG+/LoTLj7yUuGX6xPywVFNFlzQcM8mv/G1nqhncwbl5koIQ3JjQYiiOIBJX905POVeuR/OQnzJW19R4hfWg3inWi5GkFG/2xJp/pHmImHHdiIX3zqqq6sTRFtJHD4CZAKDEura4G/jD5jPven4dpr4fy3sLBDX53WUds1HG+7rozBdpsqeqF3IH4IqoPFC0t4CcNnoi82jO2e+7WR4Hjx75y/wYgeM0w8qGpBjLkWmQ2r4rZEcn5Snu58VctzYd me@example.com',
    family: 'rsa',
    bits: 2048,
    sha256: 'VSwDwvDbmxkFXJvxdqhnzKIT00ekfybng9Q52vdxRvE',
    md5: '69:5f:3b:e1:bc:4c:f9:42:2f:fa:5d:53:fb:6c:47:33',
  },
  dsa: {
    text: 'ssh-dss AAAAB3NzaC1kc3MAAACBALUUMZoj5WvEnFHQSaBLgUz/UEpCB2x6eAz3y9xBQzgMFXCCmWFMuKi3+/HCGvLuIWAEKj52C7JG4NTToXtkGwWNjzhNZh8cSK3s2mvjlC2B4EDPc8rQQjWYudOhwseFLyVL+IVoSm5BcNJ6JxQmMI3b2L+lQJwMgQ6GXwv7ih9XAAAAFQCMQoKFjnLfpA8OlvJxIsU+HeYmrwAAAIEAsAKlgyPmfK3BYvf8fGXPEzRBjCAi2hjWa/BkzIgb9DLefKArNjYYQRrFeC6TeEQnMZnlmwBWAkGKUztdXxah2OvtNzYACsUmeSfIARTtHaa05n6JXKnxTqdoGhfcMV2ZRlvk67HriZSLA3xMa0DpM22jMDmzEgAy9x4daAjcAP0AAACBAImO+bxvgT0IAqYfYXQjSmVi1OJ6JpkIkhKVjHbMNfPa2/DHLUpL77BNYoNfL5TDj4UeJWVjTsyb+Tck/vw4+9o6Gsi7eNNgZb8Fu9rajhjhHwEIPciUTxRVvUvZEIXafsnr7sB9Y+oemYak9igLf6hAfMRXFs7RKORhJjOkM6eN dsa@example.com',
    family: 'dsa',
    bits: 1024,
    sha256: '3xQ6X2VG1rsOPNubFzG9jhWG64jUUGDgJYcFEHZ3a+s',
    md5: '64:56:64:d4:22:3d:21:5c:0e:65:57:bf:18:90:54:a3',
  },
  ecdsa256: {
    text: 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLkyiofKGuDIJoSaxNg8RDkEIZg8v90gQD/modXj5uJSsiKmCB3KyxMZLQ65UW1ez+vKuyjHBdiYC+nuOSgrpS4= me@example.com',
    family: 'ecdsa',
    bits: 256,
    sha256: 'VbDklspIlrMf6A1Edz1ioePOv5uTkEgsftye3a+QvaM',
    md5: 'ac:2e:3a:f0:6b:64:ff:7a:94:3b:ca:f0:2d:2f:63:c3',
  },
  ecdsa384: {
    text: 'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBMXVOFfyE0EpmXNgdtytGA90X9gtkvy5Fl8wG0fTv9QKM7xoMhyJEIC8dLmbxWKF1WzvnA2WhFH9Y64NqJgna2N4SwJJcM2gTppQKxeLyeYu5BOaNNMbl4Tuh4nzgf7EXQ== me@example.com',
    family: 'ecdsa',
    bits: 384,
    sha256: '6QnoNJykqtovhrqVoJdG9TvKxPL1AHQ9X9rmtt8Pbbs',
    md5: 'cb:35:9e:49:be:0d:71:09:50:b2:95:75:a0:31:4b:98',
  },
  ecdsa521: {
    text: 'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAHyK4ApXMP8le1GkkmCi68gGKaszBi//GOR9AxO5WbkC6jnR4jeQABKiXPVG/B803FMx0K4Dg0vNKg/lP7QcVBSTAFXB0K/fPifAYmrvU4u0EWPvxTVV2Wpf6HQrpF1NlvEcYtusgMkWilek/SJsbUsV7OCQrPIP8X0vkYBGoMStcYETA== me@example.com',
    family: 'ecdsa',
    bits: 521,
    sha256: 'M7vyxRS7YjgDzz5u8j6S9O49NVsFahufA0ZIz8CZe/g',
    md5: '28:ca:d9:8d:53:36:73:ae:d9:a2:ad:44:ff:cc:12:7e',
  },
  ed25519: {
    text: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIMgYwUoktRvA3Hsw8jqcHop6suzztdhSJhHiVfVjICQ me@example.com',
    family: 'ed25519',
    bits: 256,
    sha256: 'TynWgfMSSSlNCPbAJZTHuOqonViSGvWu1mGB0sjYCfw',
    md5: '2d:53:2f:6f:dc:0c:a0:12:f3:24:e2:e2:07:fc:22:bb',
  },
  skEd25519: {
    text: 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIIMgYwUoktRvA3Hsw8jqcHop6suzztdhSJhHiVfVjICQAAAABHNzaDo= yubi',
    family: 'ed25519',
    bits: 256,
    sha256: 'eDJDB8Kc5PzKs33TZYfZ9rYq1Y7NOOBmJ3jmULFMFQQ',
    md5: '02:e7:e2:7b:18:74:8a:41:6c:72:2e:dc:be:d9:10:c9',
  },
  skEcdsa: {
    text: 'sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBLkyiofKGuDIJoSaxNg8RDkEIZg8v90gQD/modXj5uJSsiKmCB3KyxMZLQ65UW1ez+vKuyjHBdiYC+nuOSgrpS4AAAAEc3NoOg== yubi',
    family: 'ecdsa',
    bits: 256,
    sha256: 'N2fWAUq+ByY00foMctnM7hYqCdFRk/7H6SkzECnuHaM',
    md5: '25:73:cb:3c:3b:d6:d4:01:f4:f5:7a:4d:d7:3d:f9:b2',
  },
} satisfies Record<string, SampleKey>;

/** Generates a key that no other test has. */
export const freshKey = (comment = ''): string => {
  const length = (bytes: number): Buffer => Buffer.from([0, 0, 0, bytes]);
  const blob = Buffer.concat([length(11), Buffer.from('ssh-ed25519'), length(32), randomBytes(32)]);
  return `ssh-ed25519 ${blob.toString('base64')} ${comment}`.trim();
};
