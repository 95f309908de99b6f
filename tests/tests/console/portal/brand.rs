//! The platform's name, colour and logo.

use std::process::Output;

use tests::binary::lone;
use tests::{Database, Merchant, on_both_databases};

use super::{ALL, entered, given, link};
use crate::browser::Browser;

on_both_databases!(the_portal_has_the_platforms_name_colour_and_logo, without_settings_it_is_the_portal);

const LOGO: &str =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 4 1\"><script>alert(1)</script></svg>";

async fn the_portal_has_the_platforms_name_colour_and_logo(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logo.svg");
    std::fs::write(&path, LOGO).unwrap();
    let variables = [
        ("AUTHORITY_PORTAL_NAME", "Jones & <Söhne>"),
        ("AUTHORITY_PORTAL_COLOR", "#FFDC00"),
        ("AUTHORITY_PORTAL_LOGO", path.to_str().unwrap()),
    ];
    let (authority, merchant) = Merchant::on_with(database, &variables, "acme").await;
    let (nobody, look) = given(&link(&merchant, ALL).await);
    let browser = entered(&merchant, ALL).await;
    let image = "<img src=\"/portal/logo\" alt=\"Jones &#38; &#60;Söhne&#62;\">";
    for html in [
        browser.page("/portal").await,
        browser.page("/portal/events").await,
        browser.get("/portal/nowhere").await.text().to_owned(),
        nobody.page(&look).await,
        nobody.get("/portal").await.text().to_owned(),
        browser.send("/portal", "/portal/sign-out", &[]).await.text().to_owned(),
    ] {
        assert!(html.contains(image), "{html}");
        assert!(html.contains("– Jones &#38; &#60;Söhne&#62;</title>"), "{html}");
        assert!(html.contains("<link rel=\"stylesheet\" href=\"/portal/brand.css\">"), "{html}");
    }
    // Whoever has the link has no session yet, and sees them all the same.
    let css = nobody.get("/portal/brand.css").await;
    assert_eq!((css.status, css.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert!(css.text().contains("header { background: #ffdc00; color: #000; }"), "{}", css.text());
    let logo = nobody.get("/portal/logo").await;
    assert_eq!((logo.status, logo.text()), (200, LOGO));
    for (name, line) in [
        ("content-type", "image/svg+xml"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(logo.header(name), Some(line));
    }
    // The console is the operator's own.
    let console = Browser::signed_in(&authority).await;
    let page = console.page("/console").await;
    assert!(page.contains("– Console</title>") && !page.contains("brand.css"), "{page}");
    assert_eq!(console.get("/console/logo").await.status, 404);
}

async fn without_settings_it_is_the_portal(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "acme").await;
    let browser = entered(&merchant, ALL).await;
    let page = browser.page("/portal").await;
    assert!(page.contains("– Portal</title>") && page.contains("href=\"/portal\">Portal</a>"), "{page}");
    assert!(!page.contains("brand.css") && !page.contains("<img"), "{page}");
    for path in ["/portal/brand.css", "/portal/logo"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_logo_that_cannot_be_used_is_refused_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
    large.resize(64 * 1024 + 1, 0);
    for (logo, why) in [
        (folder.path().join("missing.png"), "the file cannot be read"),
        (folder.path().to_owned(), "the file cannot be read"),
        (file("photo.png", b"\xff\xd8\xff\xe0"), "the file is neither a PNG nor an SVG"),
        (file("large.png", &large), "the file is larger than 64 KiB"),
    ] {
        let mut serve = lone(&["serve"]);
        let database = format!("sqlite://{}", folder.path().join("authority.db").display());
        serve
            .env("AUTHORITY_PORTAL_LOGO", &logo)
            .env("AUTHORITY_DATABASE_URL", database)
            .env("AUTHORITY_SECRET_KEK", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        let Output { status, stderr, .. } = serve.output().await.unwrap();
        let said = String::from_utf8(stderr).unwrap();
        assert!(!status.success(), "{said}");
        assert!(said.contains(&format!("AUTHORITY_PORTAL_LOGO: {why}")), "{said}");
    }
}
