//! Whose certificates are trusted: those that the system trusts, and what the user's variables say of a company's own.

use std::io;
use std::path::PathBuf;

use carryover_agents::{Env, Os};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, RootCertStore};
use rustls_native_certs::{CertificateResult, load_certs_from_paths, load_native_certs};

/// The places that certificates are taken from.
pub(super) struct TrustedCertificates {
    /// In the place of the system's: a file, and folders.
    file: Option<PathBuf>,
    folders: Vec<PathBuf>,
    /// Besides all others.
    extra: Option<PathBuf>,
}

impl TrustedCertificates {
    pub(super) fn new(env: &Env) -> Self {
        let separator = if env.os == Os::Windows { ';' } else { ':' };
        let folders = env.var("SSL_CERT_DIR").unwrap_or_default().split(separator);
        Self {
            file: env.path_var("SSL_CERT_FILE"),
            folders: folders.filter(|folder| !folder.is_empty()).map(PathBuf::from).collect(),
            extra: env.path_var("NODE_EXTRA_CA_CERTS"),
        }
    }

    /// Reads all of them. A file that a variable names and that cannot be read is an error, and so is that there are none at all.
    pub(super) fn load(&self) -> io::Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        let mut first_error = None;
        for CertificateResult { certs, errors, .. } in self.load_system() {
            roots.add_parsable_certificates(certs);
            first_error = first_error.or_else(|| errors.first().map(ToString::to_string));
        }
        for (variable, path) in [("SSL_CERT_FILE", &self.file), ("NODE_EXTRA_CA_CERTS", &self.extra)] {
            if let Some(error) = path.as_ref().and_then(|path| fs_err::File::open(path).err()) {
                return Err(io::Error::other(format!("the certificates that {variable} names: {error}")));
            }
        }
        if let Some(extra) = self.extra.as_ref().and_then(|path| CertificateDer::pem_file_iter(path).ok()) {
            roots.add_parsable_certificates(extra.flatten());
        }
        if roots.is_empty() {
            let error = first_error.map(|error| format!(": {error}")).unwrap_or_default();
            return Err(io::Error::other(format!("there are no certificates that could be trusted{error}")));
        }
        Ok(roots)
    }

    fn load_system(&self) -> Vec<CertificateResult> {
        if self.file.is_none() && self.folders.is_empty() {
            return vec![load_native_certs()];
        }
        let file = self.file.iter().map(|file| load_certs_from_paths(Some(file), None));
        file.chain(self.folders.iter().map(|folder| load_certs_from_paths(None, Some(folder)))).collect()
    }
}

/// Says what can be done about a certificate that is not trusted.
pub(super) fn explain_handshake(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let reason = match cause {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "its certificate is from an authority that is not trusted here; name the file of a company's own authority in \
             NODE_EXTRA_CA_CERTS (besides the system's) or SSL_CERT_FILE (in their place)"
                .to_owned()
        }
        Some(rustls::Error::InvalidCertificate(reason)) => format!("its certificate is not valid: {reason}"),
        Some(rustls::Error::NoApplicationProtocol) => "it does not speak HTTP/1.1".to_owned(),
        Some(rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol)) => {
            "it does not speak HTTP/1.1".to_owned()
        }
        _ => return error,
    };
    io::Error::other(reason)
}
