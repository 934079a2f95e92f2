//! The one algorithm of this bridge: HMAC with SHA-256, handed to `jsonwebtoken` as its process-wide provider.
//!
//! `jsonwebtoken` asks a provider for every signature. Ours knows HS256 and answers everything else with an error, so no
//! other algorithm can be reached by any token, and it never panics.

use std::sync::Once;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{ErrorKind, Result},
    signature::{self, Signer, Verifier},
};
use sha2::Sha256;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Hs256::signer(*algorithm, key)?)),
    verifier_factory: |algorithm, key| Ok(Box::new(Hs256::verifier(*algorithm, key)?)),
    // Only public keys and their thumbprints need these.
    key_utils: KeyUtils {
        rsa_pub_components_from_private_key: |_| Err(ErrorKind::UnsupportedAlgorithm.into()),
        rsa_pub_components_from_public_key: |_| Err(ErrorKind::UnsupportedAlgorithm.into()),
        ec_pub_components_from_private_key: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
        ed_pub_components_from_private_key: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
        compute_digest: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    },
};

/// Makes [`PROVIDER`] the provider of this process. Needed before the first signature; later calls do nothing.
pub(super) fn install() {
    static INSTALLED: Once = Once::new();
    // It is refused only where a provider stands already, and nobody else in this process uses `jsonwebtoken`.
    INSTALLED.call_once(|| _ = PROVIDER.install_default());
}

#[derive(Clone)]
struct Hs256(Hmac<Sha256>);

impl Hs256 {
    fn new(algorithm: Algorithm, family: AlgorithmFamily, key: &[u8]) -> Result<Self> {
        if algorithm != Algorithm::HS256 || family != AlgorithmFamily::Hmac {
            return Err(ErrorKind::UnsupportedAlgorithm.into());
        }
        Hmac::new_from_slice(key).map(Self).map_err(|_| ErrorKind::InvalidKeyFormat.into())
    }

    fn signer(algorithm: Algorithm, key: &EncodingKey) -> Result<Self> {
        Self::new(algorithm, key.family(), key.as_bytes())
    }

    fn verifier(algorithm: Algorithm, key: &DecodingKey) -> Result<Self> {
        Self::new(algorithm, key.family(), key.try_get_as_bytes()?)
    }

    fn over(&self, message: &[u8]) -> Hmac<Sha256> {
        self.0.clone().chain_update(message)
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> signature::Result<Vec<u8>> {
        Ok(self.over(message).finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> signature::Result<()> {
        // Constant-time, and only for all 32 bytes.
        self.over(message).verify_slice(signature).map_err(|_| signature::Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installing_twice_is_harmless() {
        install();
        install();
        assert!(CryptoProvider::try_get_default().is_some());
    }

    #[test]
    fn the_signature_is_hmac_with_sha_256() {
        install();
        // RFC 4231, test case 2.
        let key = EncodingKey::from_secret(b"Jefe").unwrap();
        let signed = jsonwebtoken::crypto::sign(b"what do ya want for nothing?", &key, Algorithm::HS256).unwrap();
        assert_eq!(signed, "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM");
    }

    #[test]
    fn no_other_algorithm_signs_or_verifies() {
        install();
        let (signing, checking) =
            (EncodingKey::from_secret(&[7; 32]).unwrap(), DecodingKey::from_secret(&[7; 32]).unwrap());
        for family in [AlgorithmFamily::Hmac, AlgorithmFamily::Rsa, AlgorithmFamily::Ec, AlgorithmFamily::Ed] {
            for &algorithm in family.algorithms().iter().filter(|&&algorithm| algorithm != Algorithm::HS256) {
                assert!(Hs256::signer(algorithm, &signing).is_err(), "{algorithm:?}");
                assert!(Hs256::verifier(algorithm, &checking).is_err(), "{algorithm:?}");
            }
        }
        assert!(Hs256::verifier(Algorithm::HS256, &DecodingKey::from_rsa_der(&[7; 32])).is_err());
    }

    #[test]
    fn a_shortened_signature_does_not_verify() {
        let hs256 = Hs256::new(Algorithm::HS256, AlgorithmFamily::Hmac, &[7; 32]).unwrap();
        let whole = hs256.try_sign(b"message").unwrap();
        assert!(hs256.verify(b"message", &whole).is_ok());
        for length in 0..whole.len() {
            assert!(hs256.verify(b"message", &whole[..length].to_vec()).is_err(), "{length} bytes");
        }
    }
}
